// What `compare`, `scaling` and `history` ask for alike: which runs, over which window, in which
// form.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/run_selection.h"
#include "server/report/measured_runs.h"

namespace CLI {
class App;
}

namespace llmb::cli {

struct MeasuringArguments {
  std::vector<std::string> names;  // folders and logs, or run ids of the database
  bool two_are_sides = false;      // this and the next two of `compare`: two names are two sides
  std::vector<std::string> base;   // as `names`, of one side
  std::vector<std::string> candidate;
  std::string database;
  std::string cluster;
  std::string release;
  std::string format = "table";
  std::string window;
  std::string without;
  std::string include;
  std::string catalog_file;
};

void add_measuring_options(CLI::App& command, MeasuringArguments& arguments);

// --workload, --model-size, --dtype and --gpu-type.
void add_selection_options(CLI::App& command, parser::RunSelection& selection);

void add_gpu_count_option(CLI::App& command, parser::RunSelection& selection);

// "; of 3 runs no GPU type is known …": what to add where a selection finds no run. Empty where no
// GPU type was asked for, or all runs have one.
std::string unsaid_gpu_words(const report::MeasuredRuns& measured,
                             const parser::RunSelection& selection);

// `report` writes what it makes of the runs to stdout, and gives the exit code.
using RunsReport = std::function<int(const parser::Catalog& catalog, report::MeasuredRuns measured,
                                     const parser::RunMarkSet& included)>;

// Measures what was asked for, or, where nothing is named, the default folders (default_folders.h),
// and hands it to `report`; gives its exit code, or says on stderr in the subcommand's name why
// there are no runs: 2 for a bad catalog or where there is nothing to read, 1 otherwise. Throws
// CLI::Error for names that do not go together.
int report_measured_runs(const CLI::App& command, MeasuringArguments arguments,
                         const RunsReport& report);

}  // namespace llmb::cli
