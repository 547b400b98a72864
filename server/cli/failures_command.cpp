#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "parser/foundation/instant.h"
#include "parser/statistics/run_selection.h"
#include "server/cli/catalog_option.h"
#include "server/cli/commands.h"
#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/measuring_options.h"
#include "server/cli/watched_trees.h"
#include "server/report/failure_report.h"
#include "server/report/filter_values.h"
#include "server/report/json.h"
#include "server/report/stored_runs.h"

namespace llmb::cli {
namespace {

constexpr const char* kFailuresFooter = R"(Examples:
  llmb-report failures                               of the database that `serve` writes
  llmb-report failures --db runs.db --cluster eos --since 2026-01-01
  llmb-report failures --format csv > failures.csv
  llmb-report failures --format json | jq '.nodes[:10]'

What is counted:
  Runs that have ended, or hang, by what ended them, by cluster, and by the node where it happened,
  where the failure's line names it, or srun does for its rank; none is named for what other ranks
  saw, nor for what all ranks meet. json has the days, weeks or months, too. A run is of the day on
  which it was launched, or first seen.
  Complete runs with a failure behind their data are complete: their results stand.

Exit status: 0 when a run has ended, 1 when none has, 2 for bad arguments.)";

struct FailuresArguments {
  std::string database;
  std::string format = "table";
  std::string cluster;
  std::string since;
  std::string before;
  std::string catalog_file;
  parser::RunSelection selection;
};

// Throws CLI::ValidationError for what is no instant.
parser::Instant read_instant(const char* option, const std::string& text) {
  const auto instant = parser::parse_instant(text);
  if (!instant) {
    throw CLI::ValidationError(option, "'" + text +
                                           "' is neither a date (2026-01-31) nor an instant "
                                           "(2026-01-31T12:00:00Z)");
  }
  return *instant;
}

storage::RunFilter filter_of(const FailuresArguments& arguments, const parser::Catalog& catalog) {
  storage::RunFilter filter;
  const parser::RunSelection& selection = arguments.selection;
  if (selection.workload) filter.workload = report::names_of_workload(catalog, *selection.workload);
  if (selection.model_size) {
    filter.model_size = report::spellings_asked({*selection.model_size});
  }
  if (selection.dtype) filter.dtype = report::names_of_dtype(*selection.dtype);
  if (selection.gpu_type) filter.gpu_type = report::spellings_asked({*selection.gpu_type});
  if (selection.gpu_count) filter.gpu_count = {*selection.gpu_count};
  if (!arguments.cluster.empty()) filter.cluster = report::clusters_asked({arguments.cluster});
  if (const std::string& since = arguments.since; !since.empty()) {
    filter.since = report::since_asked(read_instant("--since", since));
  }
  if (const std::string& before = arguments.before; !before.empty()) {
    filter.before = report::before_asked(read_instant("--before", before));
  }
  return filter;
}

int tell_failures(FailuresArguments arguments) {
  const auto catalog = read_catalog(arguments.catalog_file);
  if (!catalog) return complain("failures", catalog.error().message, kBadArguments);
  const storage::RunFilter filter = filter_of(arguments, **catalog);
  if (arguments.database.empty()) arguments.database = default_database_path();
  storage::Reader reader(arguments.database);
  const report::FailureReport failures = report::failure_report(reader.failure_counts(filter));
  if (arguments.format == "json") {
    report::Json json = {{"format", "llmb-report failures"}, {"version", 1}};
    json.update(report::failures_json(failures));
    std::cout << json.dump(1, ' ', false, report::Json::error_handler_t::replace) << '\n';
  } else if (arguments.format == "csv") {
    report::write_failures_csv(failures, std::cout);
  } else {
    report::write_failures_table(failures, std::cout);
  }
  if (failures.ended > 0) return 0;
  return complain("failures", "no run of what was asked for has ended", kFailed);
}

}  // namespace

void add_failures_command(CLI::App& app, int& exit_code) {
  CLI::App* const command =
      app.add_subcommand("failures", "What ends runs, and where: by cause, cluster and node");
  command->footer(kFailuresFooter);
  const auto arguments = std::make_shared<FailuresArguments>();
  command
      ->add_option("--db", arguments->database,
                   "The database: a file, or postgresql://… (default: as serve's)")
      ->type_name("FILE|URL");
  command->add_option("--format", arguments->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  command
      ->add_option(
          "--cluster", arguments->cluster,
          "Only runs of this cluster; one that names none is of its tree's; none: runs of none")
      ->type_name("NAME");
  add_selection_options(*command, arguments->selection);
  add_gpu_count_option(*command, arguments->selection);
  command->add_option("--since", arguments->since, "Only runs launched then or later")
      ->type_name("DATE|INSTANT");
  command->add_option("--before", arguments->before, "Only runs launched before")
      ->type_name("DATE|INSTANT");
  add_catalog_option(*command, arguments->catalog_file);
  command->callback([arguments, &exit_code] {
    try {
      exit_code = tell_failures(*arguments);
    } catch (const storage::StorageError& error) {
      exit_code = complain("failures", error.what(), kFailed);
    }
  });
}

}  // namespace llmb::cli
