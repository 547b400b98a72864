#include "parser/dialects/unended_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

// Seconds are printed as such or as milliseconds.
constexpr std::array kFactors = {1.0, 1e3};

PrintedDigits digits_of(std::string_view number) {
  PrintedDigits digits;
  bool is_behind_point = false;
  for (const char c : number) {
    if (c == '.') is_behind_point = true;
    if (!is_digit(c) || (c == '0' && digits.all == 0)) continue;
    ++digits.all;
    if (is_behind_point) ++digits.behind_point;
  }
  return digits;
}

// Without what a double adds to a number that was printed with fewer.
PrintedDigits digits_of(double value) {
  return digits_of(fmt::format("{:.9g}", value));
}

}  // namespace

UnendedNumber::UnendedNumber(std::string_view line) {
  const auto is_of_number = [](char c) { return is_digit(c) || c == '.'; };
  const auto begin = std::find_if_not(line.rbegin(), line.rend(), is_of_number).base();
  const std::string_view number = line.substr(static_cast<std::size_t>(begin - line.begin()));
  const std::string_view whole =
      number.ends_with('.') ? number.substr(0, number.size() - 1) : number;
  value_ = parse_number<double>(whole);
  digits_ = digits_of(number);
}

bool UnendedNumber::may_be_cut(const std::optional<double>& value,
                               const std::optional<double>& before) const {
  if (!value_ || !value || !before) return false;
  return std::any_of(kFactors.begin(), kFactors.end(), [&](double factor) {
    const bool is_this = std::abs(*value * factor - *value_) <= 1e-9 * std::abs(*value_);
    return is_this && digits_.are_fewer_than(digits_of(*before * factor));
  });
}

bool UnendedNumber::leave_out(StepSample& sample, const StepSample& before) const {
  const bool has_cut_time = may_be_cut(sample.step_time_s, before.step_time_s);
  const bool has_cut_tflops = may_be_cut(sample.tflops_per_gpu, before.tflops_per_gpu);
  if (has_cut_time) sample.step_time_s.reset();
  if (has_cut_tflops) sample.tflops_per_gpu.reset();
  return has_cut_time || has_cut_tflops;
}

}  // namespace llmb::parser
