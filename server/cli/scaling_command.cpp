#include "server/cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "server/cli/exit_codes.h"
#include "server/cli/measuring_options.h"
#include "server/report/json.h"
#include "server/report/scaling_json.h"
#include "server/report/scaling_report.h"

namespace llmb::cli {
namespace {

constexpr const char* kScalingFooter = R"(Examples:
  llmb-report scaling experiments                    every workload of a tree
  llmb-report scaling --workload pretrain_grok1 --dtype fp8 experiments
  llmb-report scaling --db runs.db                   the runs of a database
  llmb-report scaling --format csv experiments > scaling.csv
  llmb-report scaling --format json experiments | jq '.series[].points[].efficiency'

What a series is:
  The runs of one workload, model size, dtype and GPU type, by their number of GPUs. One value is
  sequence_length * global_batch_size / step_time_s_mean / gpu_count of one run over its window;
  a point is the mean over runs. Efficiency is a point over that of the smallest scale. Where the
  sequence lengths or layers of two scales differ there is none, and the reason is given.
  Runs that compare would call different (environment: release, framework …; window, cluster, marks)
  are never put together: they are series of their own, named by what differs.

Weak or strong:
  weak     the global batch grows with the GPUs, so that each GPU keeps its work
  strong   the global batch stays, so that each GPU has less to do
  mixed    neither, or some scales are the one and some the other

Beside it stands what the recipes' document publishes, computed from its printed step times. Runs
are held against it over their own windows with every step, whatever --window and --without say:
reached, not reached, or not decided, by one-sided 95 % bounds. Runs of one point with different
published results are held against none, which the table says.

What is left out, unless --include asks for it:
  profiled, traced, function_check, proxy, on_cpu, implausible, running, incomplete, failed,
  invalid, superseded (or all).
  Each says why. A run without a step time in its window is always left out, and so is a copy: of
  one cluster logs with the same bytes are one run.

Exit status: 0 when there is a point, 1 when there is none, 2 for bad arguments.)";

struct ScalingArguments : MeasuringArguments {
  parser::RunSelection selection;
};

int scale(const parser::Catalog& catalog, const report::MeasuredRuns& measured,
          const parser::RunMarkSet& included, const ScalingArguments& arguments) {
  const auto runs = parser::scaling_runs(measured.runs);
  const auto report =
      parser::scaling_series(catalog, runs, arguments.selection, included, measured.trees);
  if (arguments.format == "json") {
    report::Json json = {{"format", "llmb-report scaling"}, {"version", 1}};
    json.update(report::scaling_json(runs, report));
    std::cout << json.dump(1, ' ', false, report::Json::error_handler_t::replace) << '\n';
  } else if (arguments.format == "csv") {
    report::write_scaling_csv(report, std::cout);
  } else {
    report::write_scaling_table(runs, report, std::cout);
  }
  const bool has_point = std::any_of(report.series.begin(), report.series.end(),
                                     [](const auto& series) { return !series.points.empty(); });
  if (has_point) return 0;
  std::cerr << "llmb-report scaling: no run of what was asked for is a point"
            << unsaid_gpu_words(measured, arguments.selection) << '\n';
  return kFailed;
}

}  // namespace

void add_scaling_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand(
      "scaling", "Tokens/s/GPU and efficiency by number of GPUs, measured and published");
  command->footer(kScalingFooter);
  const auto arguments = std::make_shared<ScalingArguments>();
  add_selection_options(*command, arguments->selection);
  add_measuring_options(*command, *arguments);
  command->callback([command, arguments, &exit_code] {
    exit_code = report_measured_runs(
        *command, *arguments,
        [&](const parser::Catalog& catalog, const report::MeasuredRuns& measured,
            const parser::RunMarkSet& included) {
          return scale(catalog, measured, included, *arguments);
        });
  });
}

}  // namespace llmb::cli
