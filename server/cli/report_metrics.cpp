#include "server/cli/report_metrics.h"

namespace llmb::cli {

void add_metrics(Report& report) {
  for (ReportedRun& run : report.runs) {
    run.metrics = parser::measure_run(*report.catalog, run.evidence(), run.match, run.summary,
                                      run.summary.window_source, parser::kTokensToTrainDefault);
  }
}

}  // namespace llmb::cli
