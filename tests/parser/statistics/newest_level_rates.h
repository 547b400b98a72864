// How often the two newest of made values alarm, and tell a change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parser/statistics/change_points.h"

namespace llmb::parser {

struct NewestLevelRates {
  double runs_per_false_alarm = 0;
  double power = 0;  // the share of changes by five that two values tell
};

// `values`: one long series without a change, of deviation 1; each is the newest once, with `known`
// values before. Alarms that go on are one.
inline NewestLevelRates newest_level_rates(const std::vector<double>& values, std::size_t known) {
  constexpr double kChange = 5;
  std::size_t alarms = 0;
  std::size_t seen = 0;
  bool was_alarm = false;
  for (std::size_t i = 0; i + known + 2 <= values.size(); ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i);
    std::vector<double> part(first, first + static_cast<std::ptrdiff_t>(known + 2));
    const bool is_alarm = newest_level(part, 0, 0) != NewestLevel::steady;
    alarms += is_alarm && !was_alarm ? 1 : 0;
    was_alarm = is_alarm;
    part[known] += kChange;
    part[known + 1] += kChange;
    seen += newest_level(part, 0, 0) == NewestLevel::higher ? 1 : 0;
  }
  const auto count = static_cast<double>(values.size());
  return {count / static_cast<double>(std::max<std::size_t>(alarms, 1)),
          static_cast<double>(seen) / count};
}

}  // namespace llmb::parser
