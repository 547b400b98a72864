#include "server/compat/report_writer.h"

#include <array>
#include <iomanip>
#include <ostream>

namespace llmb::compat {
namespace {

using Kind = LogVerdict::Kind;

// printf's "%-90s %8s %13s %12s %19s %18s": longer text pushes the rest to the right.
void print_columns(std::ostream& out, const std::array<std::string, 6>& columns) {
  constexpr std::array<int, 6> kWidths = {90, 8, 13, 12, 19, 18};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out << ' ';
    out << (i == 0 ? std::left : std::right) << std::setw(kWidths[i]) << columns[i];
  }
  out << '\n';
}

std::string shortened(std::string name) {
  const std::size_t point = name.find('.');
  if (point != std::string::npos) name.erase(0, point + 1);
  constexpr std::string_view kSuffix = "_0.out";
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

std::string json_string(const std::string& text) {
  return "\"" + text + "\"";
}

std::string or_null(const std::string& text) {
  return text == "-" ? "null" : text;
}

}  // namespace

void ReportWriter::header() {
  switch (options_.format) {
    case Format::table:
      table_header();
      return;
    case Format::csv:
      out_ << (is_nemo() ? "filename,status,time_mean_seconds,time_std_dev_seconds,"
                         : "filename,status,time_mean_ms,time_std_dev_ms,")
           << "tflops_per_gpu_mean,tflops_per_gpu_std_dev,max_iteration\n";
      return;
    case Format::json:
      out_ << "{\n  \"analysis\": {\n    \"min_iteration\": " << options_.release.window_first
           << ",\n    \"max_iteration\": " << options_.release.window_last
           << ",\n    \"experiments_directory\": " << json_string(options_.folder)
           << "\n  },\n  \"results\": [\n";
      return;
  }
}

void ReportWriter::table_header() {
  const std::string unit = is_nemo() ? "(s)" : "(ms)";
  const std::string prefix = options_.release.reads_model_tflop ? "MODEL_" : "";
  if (is_nemo()) {
    out_ << "Train Step Timing and TFLOPS Analysis";
  } else {
    out_ << "Elapsed Time (ms) and " << prefix << "TFLOPS/GPU Analysis";
  }
  out_ << " (iterations " << options_.release.window_first << "-" << options_.release.window_last
       << ")\n"
       << std::string(80, '=') << '\n';
  print_columns(out_, {"Experiment", "Status", "Time Mean " + unit, "Time Std " + unit,
                       prefix + "TFLOPS_per_GPU Mean", prefix + "TFLOPS_per_GPU Std"});
  print_columns(out_, {std::string(90, '-'), std::string(8, '-'), std::string(13, '-'),
                       std::string(12, '-'), std::string(19, '-'), std::string(18, '-')});
}

void ReportWriter::row(const std::string& name, const LogVerdict& verdict) {
  if (verdict.kind == Kind::no_row) return;
  switch (options_.format) {
    case Format::table:
      return table_row(name, verdict);
    case Format::csv:
      return csv_row(name, verdict);
    case Format::json:
      json_rows_.push_back(json_row(name, verdict));
      return;
  }
}

void ReportWriter::table_row(const std::string& name, const LogVerdict& verdict) {
  const std::string shown = options_.full_names ? name : shortened(name);
  if (verdict.kind == Kind::success) {
    print_columns(out_, {shown, "Success", verdict.time_mean, verdict.time_std, verdict.tflops_mean,
                         verdict.tflops_std});
  } else if (verdict.kind == Kind::invalid) {
    const bool known = verdict.invalid_iteration != "unknown";
    print_columns(out_, {shown, "Invalid", "grad_norm=nan",
                         known ? "iter " + verdict.invalid_iteration : "-", "-", "-"});
  } else if (verdict.max_iteration.empty()) {
    print_columns(out_, {shown, "Failed", "-", "-", "-", "-"});
  } else {
    out_ << std::left << std::setw(90) << shown << ' ' << std::right << std::setw(8) << "Failed"
         << ' ' << std::setw(30) << "(" + verdict.max_iteration + " iterations)" << '\n';
  }
}

void ReportWriter::csv_row(const std::string& name, const LogVerdict& verdict) {
  out_ << name;
  if (verdict.kind == Kind::success) {
    out_ << ",Success," << verdict.time_mean << ',' << verdict.time_std << ','
         << verdict.tflops_mean << ',' << verdict.tflops_std << ",\n";
  } else if (verdict.kind == Kind::invalid) {
    out_ << ",Invalid,,,,,grad_norm=nan";
    if (verdict.invalid_iteration != "unknown") {
      out_ << "@iteration_" << verdict.invalid_iteration;
    }
    out_ << '\n';
  } else {
    // The NeMo script has one comma too many: its failed rows have eight fields.
    out_ << ",Failed,,,,," << (is_nemo() ? "," : "") << verdict.max_iteration << '\n';
  }
}

std::string ReportWriter::json_row(const std::string& name, const LogVerdict& verdict) const {
  std::string row = "{\"filename\": " + json_string(name) + ", \"status\": ";
  if (verdict.kind == Kind::failed) {
    row += "\"Failed\"";
    if (!verdict.max_iteration.empty()) row += ", \"max_iteration\": " + verdict.max_iteration;
    return row + "}";
  }
  if (verdict.kind == Kind::invalid) {
    row += "\"Invalid\", \"reason\": \"grad_norm=nan\"";
    if (verdict.invalid_iteration != "unknown") {
      row += ", \"invalid_iteration\": " + verdict.invalid_iteration;
    }
    return row + "}";
  }
  row += "\"Success\", ";
  if (is_nemo()) {  // a missing TFLOPS figure is printed as a bare "-", which is no JSON
    return row + "\"time_mean\": " + verdict.time_mean + ", \"time_std_dev\": " + verdict.time_std +
           ", \"tflops_per_gpu_mean\": " + verdict.tflops_mean +
           ", \"tflops_per_gpu_std_dev\": " + verdict.tflops_std + "}";
  }
  return row + "\"time_mean_ms\": " + verdict.time_mean + ", \"time_std_ms\": " + verdict.time_std +
         ", \"tflops_mean\": " + or_null(verdict.tflops_mean) +
         ", \"tflops_std\": " + or_null(verdict.tflops_std) + "}";
}

void ReportWriter::footer(const Counts& counts) {
  const int failed = counts.failed + counts.invalid;
  switch (options_.format) {
    case Format::table:
      return table_footer(counts);
    case Format::csv:
      out_ << "# Summary: " << counts.success << " success, " << failed << " failed";
      if (counts.invalid > 0) out_ << " (" << counts.invalid << " invalid_grad_norm)";
      out_ << ", " << counts.total() << " total\n";
      return;
    case Format::json:
      return json_footer(counts);
  }
}

void ReportWriter::table_footer(const Counts& counts) {
  out_ << "\nSummary:\n  Success experiments: " << counts.success
       << "\n  Failed experiments: " << counts.failed + counts.invalid << '\n';
  if (counts.invalid > 0) out_ << "  Invalid grad norm experiments: " << counts.invalid << '\n';
  out_ << "  Success rate: ";
  if (counts.total() > 0) {
    out_ << counts.success * 100 / counts.total() << "%\n";
  } else {
    out_ << "N/A\n";
  }
}

void ReportWriter::json_footer(const Counts& counts) {
  for (std::size_t i = 0; i < json_rows_.size(); ++i) {
    out_ << "    " << json_rows_[i] << (i + 1 < json_rows_.size() ? ",\n" : "\n");
  }
  out_ << "  ],\n  \"summary\": {\n    \"success_experiments\": " << counts.success
       << ",\n    \"failed_experiments\": " << counts.failed + counts.invalid << ",\n";
  if (options_.release.rejects_nan_gradient) {
    out_ << "    \"invalid_grad_norm_experiments\": " << counts.invalid << ",\n";
  }
  out_ << "    \"success_rate\": ";
  if (counts.total() > 0) {
    out_ << counts.success * 100 / counts.total();
  } else {
    out_ << "null";
  }
  out_ << "\n  }\n}\n";
}

}  // namespace llmb::compat
