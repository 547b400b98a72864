#include "parser/statistics/window_coverage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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

// As the programs print it: torchtitan, Automodel, verl, NeMo-RL and nanotron; MaxText; NeMo; AMD's
// Primus, by two names in one log; other forks of Megatron.
constexpr std::array<std::string_view, 6> kTokenRates = {"tps",
                                                         "Tokens/s/device",
                                                         "tokens_per_sec_per_gpu",
                                                         "tokens per GPU (tokens/s/GPU)",
                                                         "tokens/s/GPU inst/harmonic mean",
                                                         "tokens/sec/gpu"};

// Megatron's, with --log-energy: joules of a step and GPU, the mean of its interval.
constexpr std::string_view kEnergyPerGpu = "energy per GPU (J/iter/GPU)";

void add_printed_figures(const StepSample& sample, WindowCoverage& coverage) {
  if (sample.grad_norm) {
    ++coverage.steps_with_norm;
    if (!std::isfinite(*sample.grad_norm)) ++coverage.skipped_steps;
  }
  const double energy = extra_field(sample, kEnergyPerGpu);
  if (energy > 0 && std::isfinite(energy)) coverage.energy_j_per_gpu.push_back(energy);
  for (const std::string_view name : kTokenRates) {
    const double rate = extra_field(sample, name);
    if (!(rate > 0) || !std::isfinite(rate)) continue;
    coverage.tokens_per_s_per_gpu.push_back(rate);
    return;
  }
}

// Takes down what touches the step; true where that is not wanted.
bool is_left_out(const StepSample& sample, const StepInterruptionSet& without,
                 WindowCoverage& coverage) {
  bool is_unwanted = false;
  for (const StepInterruption interruption : interruptions_of(sample)) {
    coverage.interrupted[interruption].push_back(sample.iteration);
    is_unwanted = is_unwanted || without.contains(interruption);
  }
  return is_unwanted;
}

std::int64_t steps_told(const WindowCoverage& coverage) {
  return coverage.steps_with_value() + coverage.hidden_steps + coverage.left_out_steps;
}

// A log whose producer prints rates and no times: whole where every step has a rate.
void measure_rates(std::span<const StepSample> samples, const Window& window,
                   const StepInterruptionSet& without, WindowCoverage& coverage) {
  std::int64_t expected = window.first_iteration;
  coverage.first_missing_iteration.reset();
  coverage.interrupted.clear();
  coverage.left_out_steps = 0;
  coverage.hidden_steps = 0;
  for (const StepSample& sample : samples) {
    if (!window.contains(sample.iteration) || !has_rate(sample)) continue;
    if (is_left_out(sample, without, coverage)) {
      ++coverage.left_out_steps;
    } else {
      ++coverage.steps_with_rate;
      add_printed_figures(sample, coverage);
      if (is_flop_rate(sample.tflops_per_gpu)) {
        coverage.tflops_per_gpu.push_back(*sample.tflops_per_gpu);
      }
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

bool has_rate(const StepSample& sample) {
  return extra_field(sample, "tps") > 0;
}

WindowCoverage measure_coverage(std::span<const StepSample> samples, const Window& window,
                                const StepInterruptionSet& without) {
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
    const bool is_timed = is_step_time(sample.step_time_s);
    const bool is_hidden = !is_timed && extra_field(sample, kTimeIsHidden) != 0;
    if (!is_timed && !is_hidden) continue;
    if (is_left_out(sample, without, coverage)) {
      ++coverage.left_out_steps;
    } else if (is_hidden) {
      ++coverage.hidden_steps;
    } else {
      ++coverage.steps_with_time;
      if (extra_field(sample, kTimeIsFromRate) != 0) ++coverage.times_from_rates;
      add_printed_figures(sample, coverage);
      coverage.step_times_s.push_back(*sample.step_time_s);
      if (is_flop_rate(sample.tflops_per_gpu)) {
        coverage.tflops_per_gpu.push_back(*sample.tflops_per_gpu);
      }
    }
    if (sample.iteration != expected && !coverage.first_missing_iteration) {
      coverage.first_missing_iteration = expected;
    }
    expected = sample.iteration + 1;
  }
  if (!coverage.first_missing_iteration && expected <= window.last_iteration) {
    coverage.first_missing_iteration = expected;
  }
  if (coverage.steps > 0 && coverage.steps_with_time == 0 && coverage.left_out_steps == 0) {
    measure_rates(samples, window, without, coverage);
  }
  coverage.iterations_missing = window.size() - steps_told(coverage);
  return coverage;
}

std::string interruptions_text(const WindowCoverage& coverage) {
  std::string text;
  for (const auto& [interruption, iterations] : coverage.interrupted) {
    text += fmt::format(
        "{}{}: {}", text.empty() ? "" : "; ", step_interruption_name(interruption),
        fmt::join(std::span(iterations).first(std::min(iterations.size(), kIterationsNamed)),
                  ", "));
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
  if (lines < 1 || steps_told(coverage) != lines) return;
  coverage.first_missing_iteration.reset();
  coverage.iterations_missing = 0;
  coverage.iterations_per_line = interval;
}

}  // namespace llmb::parser
