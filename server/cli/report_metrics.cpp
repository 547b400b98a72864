#include "server/cli/report_metrics.h"

namespace llmb::cli {

void add_metrics(Report& report, std::shared_ptr<const parser::Catalog> catalog,
                 const std::optional<parser::Window>& asked) {
  report.catalog = std::move(catalog);
  for (ReportedRun& run : report.runs) {
    const parser::RunEvidence evidence{run.run_path.configuration, run.facts.dialect,
                                       parser::logged_global_batch_size(run.samples)};
    const auto match = parser::match_recipe(*report.catalog, evidence);
    const auto chosen =
        parser::choose_window(asked, match, run.facts.dialect, run.summary.last_iteration);
    constexpr bool kMayStillGrow = false;
    const auto summary =
        parser::summarize_run(run.samples, run.facts, chosen.window, kMayStillGrow);
    run.metrics = parser::measure_run(*report.catalog, evidence, match, summary, chosen.source,
                                      parser::kTokensToTrainDefault);
  }
}

}  // namespace llmb::cli
