// RFC 4180: a header, lines ended by CRLF, fields quoted where they hold a comma, a quote or a
// line's end. Numbers are the shortest text that reads back to the same double.
#include <array>
#include <charconv>
#include <optional>
#include <ostream>
#include <string_view>

#include "server/cli/report.h"

namespace llmb::cli {
namespace {

constexpr std::string_view kHeader =
    "path,experiment,launched_at,account,job_id,retry,dialect,status,status_reason,window,"
    "window_is_whole,iterations_missing_in_window,segment,segment_count,last_iteration,"
    "declared_last_iteration,step_count";
constexpr std::string_view kStatisticsFields[] = {
    "count", "mean", "stddev_population", "stddev_sample", "median", "min", "max", "p95"};

class CsvLine {
 public:
  explicit CsvLine(std::ostream& out) : out_(out) {}
  ~CsvLine() { out_ << "\r\n"; }
  CsvLine(const CsvLine&) = delete;
  CsvLine& operator=(const CsvLine&) = delete;

  void add(std::string_view text) {
    separate();
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ << text;
      return;
    }
    out_ << '"';
    for (const char c : text) {
      if (c == '"') out_ << '"';
      out_ << c;
    }
    out_ << '"';
  }

  void add(std::int64_t number) {
    separate();
    out_ << number;
  }

  void add(double number) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    add(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
  }

  template <typename T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      separate();
    }
  }

  void add(const std::optional<parser::WindowStatistics>& statistics) {
    if (!statistics) {
      for (std::size_t i = 0; i < std::size(kStatisticsFields); ++i) separate();
      return;
    }
    add(statistics->count);
    for (const double number :
         {statistics->mean, statistics->stddev_population, statistics->stddev_sample,
          statistics->median, statistics->min, statistics->max, statistics->p95}) {
      add(number);
    }
  }

 private:
  void separate() {
    if (!is_first_) out_ << ',';
    is_first_ = false;
  }

  std::ostream& out_;
  bool is_first_ = true;
};

void write_run(const ReportedRun& run, std::ostream& out) {
  const parser::RunPath& path = run.run_path;
  const parser::RunSummary& summary = run.summary;

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
  line.add(std::string_view(summary.window_is_whole ? "true" : "false"));
  line.add(summary.iterations_missing_in_window);
  line.add(std::int64_t{summary.segment});
  line.add(std::int64_t{summary.segment_count});
  line.add(summary.last_iteration);
  line.add(summary.declared_last_iteration);
  line.add(run.step_count);
  line.add(summary.step_time_s);
  line.add(summary.tflops_per_gpu);
}

}  // namespace

void write_csv(const Report& report, std::ostream& out) {
  out << kHeader;
  for (const char* metric : {"step_time_s", "tflops_per_gpu"}) {
    for (const std::string_view field : kStatisticsFields) out << ',' << metric << '_' << field;
  }
  out << "\r\n";
  for (const ReportedRun& run : report.runs) write_run(run, out);
}

}  // namespace llmb::cli
