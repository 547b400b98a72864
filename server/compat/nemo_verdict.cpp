#include <re2/re2.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "server/compat/line_search.h"
#include "server/compat/log_verdict.h"

namespace llmb::compat {
namespace {

constexpr std::string_view kTimingLine = "train_step_timing in s:";

struct Sums {
  std::vector<double> times;
  std::vector<double> tflops;
  double time_sum = 0;
  double tflops_sum = 0;
  double max_found = 0;
  std::string max_found_text;
};

// awk's (and so C's) reading of a number's text.
double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

// A figure with an exponent goes through "%.10f" in the script.
double tflops_number(const std::string& text) {
  if (text.find_first_of("eE") == std::string::npos) return number(text);
  char digits[400];
  std::snprintf(digits, sizeof digits, "%.10f", number(text));
  return number(digits);
}

void read_line(const Release& release, std::string_view line, Sums& sums) {
  static const RE2 iteration_re("iteration ([0-9]+)/49");
  // No exponent in a time: "1.2e+04" reads as 1.2.
  static const RE2 time_re("train_step_timing in s: ([0-9]+\\.?[0-9]*)");
  static const RE2 tflops_re("TFLOPS_per_GPU: ([0-9]+\\.?[0-9]*(?:[eE][+-]?[0-9]+)?)");
  const re2::StringPiece input(line.data(), line.size());
  std::string iteration_text;
  if (!RE2::PartialMatch(input, iteration_re, &iteration_text)) return;
  const double iteration = number(iteration_text);
  if (iteration < static_cast<double>(release.window_first) ||
      iteration > static_cast<double>(release.window_last)) {
    return;
  }
  std::string time_text;
  std::string tflops_text;
  if (!RE2::PartialMatch(input, time_re, &time_text)) return;
  const bool has_tflops = RE2::PartialMatch(input, tflops_re, &tflops_text);
  if (!has_tflops && release.step_needs_tflops) return;
  sums.times.push_back(number(time_text));
  sums.time_sum += sums.times.back();
  if (has_tflops) {
    sums.tflops.push_back(tflops_number(tflops_text));
    sums.tflops_sum += sums.tflops.back();
  }
  if (iteration > sums.max_found) {
    sums.max_found = iteration;
    sums.max_found_text = iteration_text;
  }
}

std::string print(const char* format, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double population_deviation(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

LogVerdict judge_nemo_log(const Release& release, std::string_view name, std::string_view text) {
  LogVerdict verdict;
  if (!contains(text, kTimingLine)) {
    if (looks_like_an_experiment(name, text)) verdict.kind = LogVerdict::Kind::failed;
    return verdict;
  }
  // grep calls a file with a NUL byte binary and prints none of its lines.
  if (text.find('\0') != std::string_view::npos) return verdict;
  Sums sums;
  for_each_line_with(text, kTimingLine,
                     [&](std::string_view line) { read_line(release, line, sums); });
  if (sums.times.empty()) return verdict;
  if (sums.max_found < static_cast<double>(release.window_last)) {
    verdict.kind = LogVerdict::Kind::failed;
    verdict.max_iteration = sums.max_found_text;
    return verdict;
  }
  verdict.kind = LogVerdict::Kind::success;
  const double time_mean = sums.time_sum / static_cast<double>(sums.times.size());
  verdict.time_mean = print("%.3f", time_mean);
  verdict.time_std = print("%.3f", population_deviation(sums.times, time_mean));
  verdict.tflops_mean = verdict.tflops_std = "-";
  if (!sums.tflops.empty()) {
    const double tflops_mean = sums.tflops_sum / static_cast<double>(sums.tflops.size());
    verdict.tflops_mean = print("%.2f", tflops_mean);
    verdict.tflops_std = print("%.2f", population_deviation(sums.tflops, tflops_mean));
  }
  return verdict;
}

bool looks_like_an_experiment(std::string_view name, std::string_view text) {
  if (name.starts_with("sbatch_") || name.starts_with("vboost")) return false;
  for (const std::string_view word : {"iteration", "training", "model", "experiment"}) {
    if (contains(text, word)) return true;
  }
  return false;
}

}  // namespace llmb::compat
