// MeasuredRuns: runs of trees, of logs or of a database, measured as comparisons want them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/result.h"
#include "parser/statistics/run_comparison.h"
#include "parser/statistics/tree_clusters.h"

namespace llmb::report {

struct RunSource {
  std::string database;            // empty: `names` are folders and logs
  std::vector<std::string> names;  // with a database: run ids; none means every run of it
  bool two_are_sides = false;      // of `names`
  // Where a side is named, `names` is empty.
  std::vector<std::string> base;
  std::vector<std::string> candidate;
  std::string cluster;  // only its runs; empty: all
  std::optional<parser::AskedWindow> window;
  parser::StepInterruptionSet without;
  // Of every run of a database: those too whose logs were written anew since.
  bool with_superseded = false;
};

struct MeasuredRuns {
  std::vector<parser::ComparedRun> runs;
  // Every run was named for itself, so that all are meant to be compared with each other.
  bool is_chosen = false;
  // Where there are sides: for each run the one that it is on; else empty.
  std::vector<std::size_t> sides;
  std::vector<std::string> side_names;
  parser::TreeClusters trees;
  // What the user's runs teach of the noise between runs.
  std::vector<parser::NoiseRun> noise_runs;
  std::vector<parser::NoiseRun> published_noise_runs;  // for standings: see ComparisonOptions
};

// Run ids as the command line names them ("31", "31,29"), each once. Error: what is no id.
parser::Result<std::vector<std::int64_t>> read_run_ids(const std::vector<std::string>& names);

// Logs that cannot be read are named on stderr, and the others are measured. Error: a run that is
// not there, or nothing at all. Pointers in the result live as long as the catalog.
parser::Result<MeasuredRuns> measure_runs(const RunSource& source, const parser::Catalog& catalog);

// Leaves out the others; what they teach of noise stays.
void keep_runs(MeasuredRuns& measured,
               const std::function<bool(const parser::ComparedRun&)>& is_kept);

}  // namespace llmb::report
