#include "parser/statistics/window_coverage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace llmb::parser {
namespace {

constexpr std::size_t kIterationsNamed = 6;

bool is_step_time(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

// Producers print 0 for models whose FLOPs they do not know and -1 for "unknown": neither is a
// rate, and neither makes the step time less true.
bool is_flop_rate(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value > 0;
}

double extra_field(const StepSample& sample, std::string_view name) {
  for (const auto& [own, value] : sample.extra_fields) {
    if (own == name) return value;
  }
  return 0;
}

// Tokens per second, which torchtitan prints; FLOP/s alone may be a guess of NeMo's.
bool has_rate(const StepSample& sample) {
  return extra_field(sample, "tps") > 0;
}

// A log whose producer prints rates and no times: whole where every step has a rate.
void measure_rates(std::span<const StepSample> samples, const Window& window,
                   WindowCoverage& coverage) {
  std::int64_t expected = window.first_iteration;
  coverage.first_missing_iteration.reset();
  for (const StepSample& sample : samples) {
    if (!window.contains(sample.iteration) || !has_rate(sample)) continue;
    if (is_flop_rate(sample.tflops_per_gpu)) {
      coverage.tflops_per_gpu.push_back(*sample.tflops_per_gpu);
    }
    if (sample.iteration != expected && !coverage.first_missing_iteration) {
      coverage.first_missing_iteration = expected;
    }
    expected = sample.iteration + 1;
    coverage.has_rates_only = true;
  }
  if (!coverage.first_missing_iteration && expected <= window.last_iteration) {
    coverage.first_missing_iteration = expected;
  }
}

}  // namespace

WindowCoverage measure_coverage(std::span<const StepSample> samples, const Window& window) {
  WindowCoverage coverage;
  std::int64_t expected = window.first_iteration;
  std::int64_t previous = 0;
  for (const StepSample& sample : samples) {
    if (!window.contains(sample.iteration)) continue;
    ++coverage.steps;
    for (const StepInterruption interruption : interruptions_of(sample)) {
      coverage.interrupted[interruption].push_back(sample.iteration);
    }
    const std::int64_t distance = sample.iteration - previous;
    previous = sample.iteration;
    if (coverage.steps == 2) coverage.interval = distance;
    if (coverage.steps > 2 && distance != coverage.interval) coverage.interval = 0;
    const bool is_timed = is_step_time(sample.step_time_s);
    const bool is_hidden = !is_timed && extra_field(sample, kTimeIsHidden) != 0;
    if (!is_timed && !is_hidden) continue;
    if (is_hidden) ++coverage.hidden_steps;
    if (is_timed) ++coverage.steps_with_time;
    if (is_timed) coverage.step_times_s.push_back(*sample.step_time_s);
    if (is_timed && is_flop_rate(sample.tflops_per_gpu))
      coverage.tflops_per_gpu.push_back(*sample.tflops_per_gpu);
    if (sample.iteration != expected && !coverage.first_missing_iteration) {
      coverage.first_missing_iteration = expected;
    }
    expected = sample.iteration + 1;
  }
  if (!coverage.first_missing_iteration && expected <= window.last_iteration) {
    coverage.first_missing_iteration = expected;
  }
  if (coverage.steps > 0 && coverage.steps_with_time == 0) {
    measure_rates(samples, window, coverage);
  }
  return coverage;
}

std::string interruptions_text(const WindowCoverage& coverage) {
  std::string text;
  for (const auto& [interruption, iterations] : coverage.interrupted) {
    const auto named = std::span(iterations).first(std::min(iterations.size(), kIterationsNamed));
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", step_interruption_name(interruption),
                        fmt::join(named, ", "));
    if (iterations.size() > kIterationsNamed) {
      text += fmt::format(" and {} more", iterations.size() - kIterationsNamed);
    }
  }
  return text;
}

void count_interval_lines(WindowCoverage& coverage, const Window& window, std::int64_t interval,
                          std::int64_t last_iteration) {
  if (interval < 2 || coverage.is_whole() || last_iteration < window.last_iteration) return;
  const std::int64_t lines =
      window.last_iteration / interval - (window.first_iteration - 1) / interval;
  if (lines < 1 || coverage.steps_with_time != lines) return;
  coverage.first_missing_iteration.reset();
  coverage.iterations_per_line = interval;
}

}  // namespace llmb::parser
