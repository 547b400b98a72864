// signed_percent(): what a ratio is over 1, or under it: "+2.00 %", "-0.13 %".
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace llmb::parser {

inline std::string signed_percent(double ratio, int decimals = 2) {
  const double percent = 100 * (ratio - 1);
  const bool is_shown_as_zero = std::abs(percent) < 0.5 * std::pow(10.0, -decimals);
  return fmt::format("{:+.{}f} %", is_shown_as_zero ? 0 : percent, decimals);  // no "-0.00"
}

}  // namespace llmb::parser
