#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>

#include "parser/statistics/run_marks.h"
#include "parser/statistics/status_reason.h"
#include "parser/statistics/unknown_profile.h"
#include "server/report/refused_lines.h"
#include "server/report/report.h"
#include "server/report/text_table.h"
#include "storage/listed_marks.h"

namespace llmb::report {
namespace {

using parser::RunStatus;

constexpr std::size_t kColumnCount = 14;
constexpr std::size_t kStatusColumn = 1;
constexpr std::size_t kFirstNumberColumn = 2;
constexpr std::size_t kFirstMetricColumn = 8;  // shown where they were asked for
constexpr std::size_t kReasonColumn = 13;
using Row = std::array<std::string, kColumnCount>;

const Row kHeader = {"Experiment",      "Status",
                     "Window",          "Steps",
                     "Time mean (s)",   "Time std (s)",
                     "TFLOPS/GPU mean", "TFLOPS/GPU std",
                     "Tokens/s/GPU",    "Tokens/s",
                     "Days for 1T",     "MFU (%)",
                     "MFU by",          ""};

std::string deviation_text(const std::optional<parser::WindowStatistics>& statistics,
                           int decimals) {
  const bool has_one = statistics && statistics->has_deviation();
  return has_one ? fixed(statistics->stddev_sample, decimals) : "-";
}

// "in its window checkpoint: 41 (1 left out)"
std::string interruptions_of(const parser::RunSummary& summary) {
  if (summary.window_interruptions.empty()) return {};
  std::string text = "in its window " + summary.window_interruptions;
  if (summary.steps_left_out > 0) text += fmt::format(" ({} left out)", summary.steps_left_out);
  return text;
}

// What a reader of the row's numbers has to know of them. A whole sentence only where the status or
// a restart asks for one; of a complete run it has the interruptions.
std::string reason_of(const ReportedRun& run) {
  const parser::RunSummary& summary = run.judgement.summary;
  const bool is_complete = summary.status == RunStatus::complete;
  const bool has_sentence = !is_complete || summary.segment_count > 1;
  std::string text = has_sentence ? printable(summary.status_reason) : std::string();
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  add(marks_text(run));
  if (!is_complete || !has_sentence) add(interruptions_of(summary));
  if (has_sentence) return text;
  if (summary.status_reason.find(parser::kRunWasAborted) != std::string::npos) {
    add(std::string(parser::kRunWasAborted));
  }
  add(std::string(parser::unknown_profile_words(summary)));
  return text;
}

Row row_of(const ReportedRun& run, const std::string& name) {
  const parser::RunSummary& summary = run.judgement.summary;
  Row row;
  row[0] = name;
  row[kStatusColumn] = run_status_name(summary.status);
  row[2] = to_string(summary.window);
  row[3] = std::to_string(summary.step_time_s ? summary.step_time_s->count : 0);
  row[4] = summary.step_time_s ? fixed(summary.step_time_s->mean, 4) : "-";
  row[5] = deviation_text(summary.step_time_s, 4);
  row[6] = summary.tflops_per_gpu ? fixed(summary.tflops_per_gpu->mean, 2) : "-";
  row[7] = deviation_text(summary.tflops_per_gpu, 2);
  const parser::DerivedMetrics& metrics = run.judgement.metrics.derived;
  const auto cell = [](const parser::Metric& metric, double unit, int decimals) {
    return metric.value ? fixed(*metric.value / unit, decimals) : std::string("-");
  };
  const parser::Metric& mfu = metrics.mfu;
  row[kFirstMetricColumn] = cell(metrics.tokens_per_s_per_gpu, 1, 1);
  row[kFirstMetricColumn + 1] = cell(metrics.tokens_per_s, 1, 0);
  row[kFirstMetricColumn + 2] = cell(metrics.days_to_train, 1, 2);
  row[kFirstMetricColumn + 3] = cell(mfu, 0.01, 2);
  row[kFirstMetricColumn + 4] = !mfu.value                                          ? "-"
                                : mfu.formula == metrics.mfu_tflops_per_gpu.formula ? "TFLOPS"
                                                                                    : "model FLOPs";
  row[kReasonColumn] = reason_of(run);
  return row;
}

const char* colour_of(RunStatus status) {
  switch (status) {
    case RunStatus::complete:
      return "\033[32m";
    case RunStatus::running:
      return "\033[36m";
    case RunStatus::incomplete:
    case RunStatus::no_data:
      return "\033[33m";
    default:
      return "\033[31m";
  }
}

class TablePrinter {
 public:
  TablePrinter(const std::vector<Row>& rows, bool has_metrics, std::ostream& out)
      : out_(out), column_count_(has_metrics ? kReasonColumn : kFirstMetricColumn) {
    for (std::size_t i = 0; i < kColumnCount; ++i) {
      widths_.at(i) = display_width(kHeader.at(i));
      for (const Row& row : rows) widths_.at(i) = std::max(widths_.at(i), display_width(row.at(i)));
    }
  }

  void print(const Row& row, const char* status_colour) {
    for (std::size_t i = 0; i < column_count_; ++i) {
      const std::string padding(widths_.at(i) - display_width(row.at(i)), ' ');
      if (i > 0) out_ << "  ";
      if (i >= kFirstNumberColumn) {
        out_ << padding << row.at(i);
      } else if (i == kStatusColumn && status_colour != nullptr) {
        out_ << status_colour << row.at(i) << "\033[0m" << padding;
      } else {
        out_ << row.at(i) << padding;
      }
    }
    if (!row[kReasonColumn].empty()) out_ << "  " << row[kReasonColumn];
    out_ << '\n';
  }

  void print_rule() {
    for (std::size_t i = 0; i < column_count_; ++i) {
      out_ << (i > 0 ? "  " : "") << std::string(widths_.at(i), '-');
    }
    out_ << '\n';
  }

 private:
  std::ostream& out_;
  const std::size_t column_count_;
  std::array<std::size_t, kColumnCount> widths_{};
};

void write_counts(const LogReport& report, std::ostream& out) {
  out << '\n' << report.runs.size() << (report.runs.size() == 1 ? " log: " : " logs: ");
  const char* separator = "";
  for (const RunStatus status : {RunStatus::complete, RunStatus::running, RunStatus::incomplete,
                                 RunStatus::failed, RunStatus::invalid, RunStatus::no_data}) {
    const std::int64_t count = report.count(status);
    if (count == 0) continue;
    out << separator << count << ' ' << run_status_name(status);
    separator = ", ";
  }
  out << '\n';
}

}  // namespace

std::vector<std::string_view> mark_names(const ReportedRun& run) {
  const parser::RunCondition condition = {.summary = run.judgement.summary,
                                          .configuration = run.run_path.configuration,
                                          .has_profiles = run.is_profiled,
                                          .nccl_trace_seen = run.facts.nccl_trace_seen,
                                          .is_proxy = run.judgement.match.is_proxy(),
                                          .metrics = &run.judgement.metrics.derived};
  std::vector<std::string_view> names;
  for (const parser::RunMarkReason& mark : parser::marks_of(condition)) {
    if (!storage::is_listed_mark(mark.mark)) continue;  // the status says it
    names.push_back(parser::run_mark_name(mark.mark));
  }
  return names;
}

std::string marks_text(const ReportedRun& run) {
  return fmt::format("{}", fmt::join(mark_names(run), ", "));
}

std::string short_name(const parser::RunPath& path) {
  std::string name = path.experiment;
  const bool has_job = path.job_id.has_value();
  const std::string job = has_job ? fmt::format("_{}", *path.job_id) : "";
  if (!name.ends_with(job) &&
      !name.ends_with("-" + job.substr(std::min<std::size_t>(1, job.size()))))
    name += job;
  if (path.retry.value_or(0) > 0) name += fmt::format("_{}", *path.retry);
  return name;
}

std::vector<std::string> shown_names(const LogReport& report, bool full_names) {
  std::vector<std::string> names;
  std::map<std::string, int> runs_of;
  for (const ReportedRun& run : report.runs) {
    const bool has_path_only = full_names || run.run_path.experiment.empty();
    names.push_back(has_path_only ? run.path : short_name(run.run_path));
    ++runs_of[names.back()];
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = printable(runs_of[names[i]] > 1 ? report.runs[i].path : names[i]);
  }
  return names;
}

std::int64_t LogReport::count(RunStatus status) const {
  return std::count_if(runs.begin(), runs.end(), [&](const ReportedRun& run) {
    return run.judgement.summary.status == status;
  });
}

void write_table(const LogReport& report, const TableStyle& style, std::ostream& out) {
  std::vector<Row> rows;
  const std::vector<std::string> names = shown_names(report, style.full_names);
  for (std::size_t i = 0; i < names.size(); ++i) rows.push_back(row_of(report.runs[i], names[i]));
  out << "Step time in seconds and TFLOP/s per GPU, over the window of iterations as the log "
         "counts them;\nstd is the sample standard deviation (n - 1), which one step does not "
         "have.\n";
  if (report.has_metrics) {
    out << "Days are those that 1T tokens take. MFU is by the formula of the run's own document: "
           "from its model\nFLOPs, or from the logged TFLOPS (Llama 3.1). - where an input is "
           "missing: --format json says which,\nand has MFU by the other formulas.\n";
  }
  out << '\n';
  TablePrinter printer(rows, report.has_metrics, out);
  printer.print(kHeader, nullptr);
  printer.print_rule();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char* colour =
        style.has_colour ? colour_of(report.runs[i].judgement.summary.status) : nullptr;
    printer.print(rows[i], colour);
  }
  write_counts(report, out);
  if (report.has_refusals) write_refusals(report, style.full_names, out);
}

}  // namespace llmb::report
