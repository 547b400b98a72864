// One header, and one line a run.
#include <array>
#include <optional>
#include <ostream>
#include <string_view>

#include "server/report/csv_line.h"
#include "server/report/json.h"
#include "server/report/json_cell.h"
#include "server/report/report.h"
#include "server/report/run_json.h"

namespace llmb::report {
namespace {

constexpr std::string_view kCsvHeader =
    "path,experiment,launched_at,account,job_id,retry,dialect,status,status_reason,window,"
    "window_is_whole,iterations_missing_in_window,segment,segment_count,last_iteration,"
    "declared_last_iteration,step_count";
// What runs.csv of the API has besides, by its names: behind the others, whose places scripts know.
constexpr std::array kSelectingColumns = {"workload",
                                          "model_size",
                                          "dtype",
                                          "gpu_type",
                                          "gpu_count",
                                          "release",
                                          "cluster",
                                          "launch_id",
                                          "is_profiled",
                                          "is_traced",
                                          "failure_cause",
                                          "window_source",
                                          "window_interruptions",
                                          "is_function_check",
                                          "has_run_all_steps",
                                          "size_bytes"};
constexpr std::string_view kStatisticsFields[] = {
    "count", "mean", "stddev_population", "stddev_sample", "median", "min", "max", "p95"};

void add_statistics(CsvLine& line, const std::optional<parser::WindowStatistics>& statistics) {
  if (!statistics) {
    line.add(std::int64_t{0});
    line.add_empty(static_cast<int>(std::size(kStatisticsFields)) - 1);
    return;
  }
  line.add(statistics->count);
  line.add(statistics->mean);
  if (statistics->has_deviation()) {
    line.add(statistics->stddev_population);
    line.add(statistics->stddev_sample);
  } else {
    line.add_empty(2);
  }
  for (const double number :
       {statistics->median, statistics->min, statistics->max, statistics->p95}) {
    line.add(number);
  }
}

void add_metrics(CsvLine& line, const parser::DerivedMetrics& metrics) {
  line.add(metrics.tokens_per_s_per_gpu.value);
  line.add(metrics.tokens_per_s.value);
  line.add(metrics.days_to_train.value);
  line.add(metrics.mfu.value);
  line.add(std::string_view(metrics.mfu.value ? metrics.mfu.formula : ""));
}

void add_selecting(CsvLine& line, const ReportedRun& run) {
  Json json;
  add_launch(json, run.run_path);
  add_verdict(json, told_run(run));
  for (const char* const column : kSelectingColumns) add_cell(line, json.at(column));
}

void write_run(const ReportedRun& run, bool has_metrics, std::ostream& out) {
  const parser::RunPath& path = run.run_path;
  const parser::RunSummary& summary = run.judgement.summary;

  CsvLine line(out);
  line.add(run.path);
  line.add(path.experiment);
  line.add(path.launched_at);
  line.add(path.account);
  line.add(path.job_id);
  line.add(path.retry);
  line.add(dialect_name(run.facts.dialect));
  line.add(run_status_name(summary.status));
  line.add(summary.status_reason);
  line.add(to_string(summary.window));
  line.add_flag(summary.window_is_whole);
  line.add(summary.iterations_missing_in_window);
  line.add(std::int64_t{summary.segment});
  line.add(std::int64_t{summary.segment_count});
  line.add(summary.last_iteration);
  line.add(summary.declared_last_iteration);
  line.add(run.step_count);
  add_statistics(line, summary.step_time_s);
  add_statistics(line, summary.tflops_per_gpu);
  if (has_metrics) add_metrics(line, run.judgement.metrics.derived);
  const std::string marks = marks_text(run);
  line.add(std::string_view(marks));
  add_selecting(line, run);
  if (has_metrics) line.add(run.judgement.metrics.speed_against_reference);
}

}  // namespace

void write_csv(const LogReport& report, std::ostream& out) {
  out << kCsvHeader;
  for (const char* metric : {"step_time_s", "tflops_per_gpu"}) {
    for (const std::string_view field : kStatisticsFields) out << ',' << metric << '_' << field;
  }
  if (report.has_metrics) {
    out << ",tokens_per_s_per_gpu,tokens_per_s,days_to_train,mfu,mfu_formula";
  }
  out << ",marks";
  for (const char* const column : kSelectingColumns) out << ',' << column;
  if (report.has_metrics) out << ",speed_against_reference";
  out << "\r\n";
  for (const ReportedRun& run : report.runs) write_run(run, report.has_metrics, out);
}

}  // namespace llmb::report
