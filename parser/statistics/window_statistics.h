// WindowStatistics: the numbers of one metric over a Window. Both deviations are kept because the
// recipes' two shell parsers use one each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace llmb::parser {

struct WindowStatistics {
  std::int64_t count = 0;
  double mean = 0;
  double stddev_population = 0;  // divides by n: the NeMo shell parser's
  double stddev_sample = 0;      // divides by n - 1 (0 when n = 1): the Megatron-Bridge one's
  double median = 0;
  double min = 0;
  double max = 0;
  double p95 = 0;  // linear interpolation between the two nearest ranks

  // The deviations of one value are 0, and say nothing: they are no numbers to show.
  bool has_deviation() const { return count > 1; }
  bool operator==(const WindowStatistics&) const = default;
};

// Nothing for no values. NaN and infinite values must have been left out by the caller.
std::optional<WindowStatistics> compute_window_statistics(std::span<const double> values);

}  // namespace llmb::parser
