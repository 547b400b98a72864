#include "server/report/report_metrics.h"

namespace llmb::report {

void add_metrics(LogReport& report) {
  for (ReportedRun& run : report.runs) {
    run.metrics = parser::measure_run(*report.catalog, run.evidence(), run.match, run.summary,
                                      run.summary.window_source, parser::kTokensToTrainDefault);
  }
}

}  // namespace llmb::report
