#include "parser/statistics/window_coverage.h"

#include <cmath>

namespace llmb::parser {
namespace {

bool is_step_time(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

// Producers print 0 for models whose FLOPs they do not know and -1 for "unknown": neither is a
// rate, and neither makes the step time less true.
bool is_flop_rate(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0;
}

}  // namespace

WindowCoverage measure_coverage(std::span<const StepSample> samples, const Window& window) {
  WindowCoverage coverage;
  std::int64_t expected = window.first_iteration;
  std::int64_t previous = 0;
  for (const StepSample& sample : samples) {
    if (!window.contains(sample.iteration)) continue;
    ++coverage.steps;
    const std::int64_t distance = sample.iteration - previous;
    previous = sample.iteration;
    if (coverage.steps == 2) coverage.interval = distance;
    if (coverage.steps > 2 && distance != coverage.interval) coverage.interval = 0;
    if (!is_step_time(sample.step_time_s)) continue;
    ++coverage.steps_with_time;
    coverage.step_times_s.push_back(*sample.step_time_s);
    if (is_flop_rate(sample.tflops_per_gpu))
      coverage.tflops_per_gpu.push_back(*sample.tflops_per_gpu);
    if (sample.iteration != expected && !coverage.first_missing_iteration) {
      coverage.first_missing_iteration = expected;
    }
    expected = sample.iteration + 1;
  }
  if (!coverage.first_missing_iteration && expected <= window.last_iteration) {
    coverage.first_missing_iteration = expected;
  }
  return coverage;
}

}  // namespace llmb::parser
