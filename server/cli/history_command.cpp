#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "parser/statistics/run_history.h"
#include "server/cli/commands.h"
#include "server/cli/exit_codes.h"
#include "server/cli/measuring_options.h"
#include "server/report/history_json.h"
#include "server/report/history_report.h"
#include "server/report/json.h"

namespace llmb::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  llmb-report history experiments                    every configuration of a tree
  llmb-report history --db runs.db --workload pretrain_grok1 --gpu-count 512
  llmb-report history --format csv experiments > history.csv
  llmb-report history --db runs.db --format json | jq '.series[] | .changes, .drift'

What a series is:
  The runs of one workload, model size, dtype, GPU type, number of GPUs and global batch, and of one
  cluster where several are named, in the order in which they were started (of their job ids, where
  that is not known). What changes over time, such as the release or the environment, does not keep
  them apart: it is named where the step time changes.

What a change is:
  A new level of the runs' median step times, found by penalised segmentation with distances from
  medians: a single odd run is none. Six runs are the fewest in which one can be told. Where the
  step time never changed, one series of 100 shows a change by chance at most, and one of 20 where
  each run takes over half of the one before. Before a change can be told, the two newest runs are
  called slower or faster where both lie beyond a limit on one side of the level that they follow,
  of six runs at least: one false alarm in 300 runs (in 80 to 120 where each run takes over half of
  the one before). After a change this is about the new level: until it has so many runs it is
  unknown (newest in json) whether the newest leave it again, and the change is told all the same.
  Where the runs go slower or faster one by one, their level drifts:
  told of eight runs or more, with how much in all and since which run. Slow steps move the mean
  and not the median: where the means leave their medians by 1 % more than before, or less, it is
  told as more or fewer slow steps. Of more than 200 runs a drift is sought in the newest 200: one
  that fills them drifts "at least" from the first of these on.

What is left out, unless --include asks for it (then it stands among the others):
  profiled, traced, function_check, proxy, on_cpu, implausible, running, incomplete, failed,
  invalid, superseded (or all).
  Each says why, with its series, or apart where no run of its configuration counts. Of logs of a
  cluster with the same bytes one counts; the others name it. csv has the runs that count.

Exit status: 0 when there is a series, 1 when there is none, 2 for bad arguments.)";

struct HistoryArguments : MeasuringArguments {
  parser::RunSelection selection;
};

int tell_history(const parser::Catalog& catalog, const report::MeasuredRuns& measured,
                 const parser::RunMarkSet& included, const HistoryArguments& arguments) {
  const auto runs = parser::history_runs(measured.runs);
  const auto history = parser::run_history(
      runs, parser::by_catalog_names(catalog, arguments.selection), included, measured.trees);
  if (arguments.format == "json") {
    report::Json json = {{"format", "llmb-report history"}, {"version", 1}};
    json.update(report::history_json(runs, history));
    std::cout << json.dump(1, ' ', false, report::Json::error_handler_t::replace) << '\n';
  } else if (arguments.format == "csv") {
    report::write_history_csv(runs, history, std::cout);
  } else {
    report::write_history_table(runs, history, std::cout);
  }
  if (!history.series.empty()) return 0;
  std::cerr << "llmb-report history: no run of what was asked for counts"
            << unsaid_gpu_words(measured, arguments.selection) << '\n';
  return kFailed;
}

}  // namespace

void add_history_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "history", "Runs over time: where the step time of a configuration changed, and with what");
  command->footer(kFooter);
  const auto arguments = std::make_shared<HistoryArguments>();
  add_selection_options(*command, arguments->selection);
  add_gpu_count_option(*command, arguments->selection);
  add_measuring_options(*command, *arguments);
  command->callback([command, arguments, &exit_code] {
    exit_code = report_measured_runs(
        *command, *arguments,
        [&](const parser::Catalog& catalog, const report::MeasuredRuns& measured,
            const parser::RunMarkSet& included) {
          return tell_history(catalog, measured, included, *arguments);
        });
  });
}

}  // namespace llmb::cli
