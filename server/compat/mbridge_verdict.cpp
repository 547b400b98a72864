#include <re2/re2.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "server/compat/line_search.h"
#include "server/compat/log_verdict.h"

namespace llmb::compat {
namespace {

// Blanks as grep and awk see them inside one line.
#define LLMB_BLANKS "[ \\t\\v\\f\\r]*"

// Everything that one of the awk program's rules could match holds one of these.
constexpr std::array<std::string_view, 2> kRuleLiterals = {"TFLOP/s/GPU", "iteration"};

RE2::Options leftmost_longest() {
  RE2::Options options;
  options.set_longest_match(true);  // as POSIX expressions match
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

const RE2& tflops_expression(const Release& release) {
  constexpr const char* kNumber = "([0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)[[:space:]]*";
  static const RE2 tflop(std::string(kNumber) + "TFLOP/s/GPU", leftmost_longest());
  static const RE2 model_tflop(std::string(kNumber) + "MODEL_TFLOP/s/GPU", leftmost_longest());
  static const RE2 either(std::string(kNumber) + "(?:MODEL_TFLOP/s/GPU|TFLOP/s/GPU)",
                          leftmost_longest());
  if (release.reads_tflop && release.reads_model_tflop) return either;
  return release.reads_tflop ? tflop : model_tflop;
}

struct Sums {
  std::vector<double> times;
  std::vector<double> tflops;
  double time_sum = 0;
  double tflops_sum = 0;
  double max_found = 0;
  std::string last_tflops;  // the latest figure that no iteration line has taken
  std::string invalid_iteration;
};

double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

std::string print(const char* format, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The iteration as awk prints a number: without leading zeros.
std::string whole_number(const std::string& text) {
  return print("%.0f", number(text));
}

void read_line(const Release& release, std::string_view line, Sums& sums) {
  static const RE2 iteration_line_re("iteration[[:space:]]*[0-9]+[[:space:]]*/[[:space:]]*[0-9]+",
                                     leftmost_longest());
  static const RE2 iteration_re("iteration[[:space:]]*([0-9]+)", leftmost_longest());
  static const RE2 elapsed_re(
      "elapsed time per iteration \\(ms\\):[[:space:]]*([0-9]+(?:\\.[0-9]+)?)", leftmost_longest());
  const re2::StringPiece input(line.data(), line.size());
  std::string text;
  if (RE2::PartialMatch(input, tflops_expression(release), &text)) sums.last_tflops = text;
  if (!RE2::PartialMatch(input, iteration_line_re) ||
      !RE2::PartialMatch(input, iteration_re, &text)) {
    return;
  }
  const double iteration = number(text);
  if (iteration < static_cast<double>(release.window_first) ||
      iteration > static_cast<double>(release.window_last) ||
      !RE2::PartialMatch(input, elapsed_re, &text)) {
    return;
  }
  sums.times.push_back(number(text));
  sums.time_sum += sums.times.back();
  if (!sums.last_tflops.empty()) {
    sums.tflops.push_back(number(sums.last_tflops));
    sums.tflops_sum += sums.tflops.back();
  }
  if (iteration > sums.max_found) sums.max_found = iteration;
  sums.last_tflops.clear();
}

// The two literals' lines in one pass, in the order of the log.
void read_lines(const Release& release, std::string_view text, Sums& sums) {
  std::array<std::size_t, kRuleLiterals.size()> next{};
  std::size_t from = 0;
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = text.find(kRuleLiterals[i]);
  while (true) {
    const std::size_t at = std::min(next[0], next[1]);
    if (at == std::string_view::npos) return;
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    read_line(release, text.substr(begin, end - begin), sums);
    from = end;
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] != std::string_view::npos && next[i] < from) {
        next[i] = text.find(kRuleLiterals[i], from);
      }
    }
  }
}

// 26.05: the first line, in any case of letters, whose gradient norm is NaN.
void find_nan_gradient(std::string_view text, Sums& sums) {
  static const RE2 nan_line_re("(?i)grad[ _]norm[[:space:]]*:[[:space:]]*nan(?:[[:space:]]|[|]|$)",
                               leftmost_longest());
  static const RE2 iteration_re("iteration[[:space:]]*([0-9]+)", leftmost_longest());
  static const RE2 candidate_re("(?i)grad[ _]norm" LLMB_BLANKS ":" LLMB_BLANKS "nan",
                                leftmost_longest());
  re2::StringPiece rest(text.data(), text.size());
  while (RE2::FindAndConsume(&rest, candidate_re)) {
    const auto at = static_cast<std::size_t>(rest.data() - text.data());
    const std::size_t before = text.rfind('\n', at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const re2::StringPiece line(text.data() + begin, end - begin);
    if (!RE2::PartialMatch(line, nan_line_re)) continue;
    std::string iteration;
    sums.invalid_iteration =
        RE2::PartialMatch(line, iteration_re, &iteration) ? whole_number(iteration) : "unknown";
    return;
  }
}

bool has_timing_data(const Release& release, std::string_view text) {
  const re2::StringPiece input(text.data(), text.size());
  if (release.rejects_nan_gradient) {  // its grep ignores case
    static const RE2 any_case(
        "(?i)elapsed time per iteration \\(ms\\):|TFLOP/s/GPU|"
        "grad[ _]norm" LLMB_BLANKS ":" LLMB_BLANKS "nan",
        leftmost_longest());
    return RE2::PartialMatch(input, any_case);
  }
  return contains(text, "elapsed time per iteration (ms):") ||
         contains(text, release.reads_tflop ? "TFLOP/s/GPU" : "MODEL_TFLOP/s/GPU");
}

// Divides by n - 1; 0 for one value.
double sample_deviation(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void describe_success(const Sums& sums, LogVerdict& verdict) {
  verdict.kind = LogVerdict::Kind::success;
  const double time_mean = sums.time_sum / static_cast<double>(sums.times.size());
  verdict.time_mean = print("%.3f", time_mean);
  verdict.time_std = print("%.3f", sample_deviation(sums.times, time_mean));
  verdict.tflops_mean = verdict.tflops_std = "-";
  if (sums.tflops.empty()) return;
  const double tflops_mean = sums.tflops_sum / static_cast<double>(sums.tflops.size());
  verdict.tflops_mean = print("%.2f", tflops_mean);
  verdict.tflops_std = print("%.2f", sample_deviation(sums.tflops, tflops_mean));
}

}  // namespace

LogVerdict judge_mbridge_log(const Release& release, std::string_view name, std::string_view text) {
  LogVerdict verdict;
  if (!has_timing_data(release, text)) {
    if (looks_like_an_experiment(name, text)) verdict.kind = LogVerdict::Kind::failed;
    return verdict;
  }
  Sums sums;
  if (release.rejects_nan_gradient) find_nan_gradient(text, sums);
  if (!sums.invalid_iteration.empty()) {
    verdict.kind = LogVerdict::Kind::invalid;
    verdict.invalid_iteration = sums.invalid_iteration;
    return verdict;
  }
  read_lines(release, text, sums);
  if (sums.times.empty()) return verdict;
  if (sums.max_found < static_cast<double>(release.window_last)) {
    verdict.kind = LogVerdict::Kind::failed;
    verdict.max_iteration = print("%.0f", sums.max_found);
    return verdict;
  }
  describe_success(sums, verdict);
  return verdict;
}

}  // namespace llmb::compat
