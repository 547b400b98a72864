// WindowCoverage: how much of a Window one segment's samples fill, and the values that do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser/step_interruption.h"
#include "parser/step_sample.h"
#include "parser/window.h"

namespace llmb::parser {

struct WindowCoverage {
  std::int64_t steps = 0;            // samples inside the window
  std::int64_t steps_with_time = 0;  // those that carry a step time
  std::int64_t interval = 0;         // the one distance between all neighbouring steps; 0: no such
  std::optional<std::int64_t> first_missing_iteration;  // the first without one
  std::vector<double> step_times_s;                     // in the order of the iterations
  std::vector<double> tflops_per_gpu;
  std::vector<double> tokens_per_s_per_gpu;  // as printed
  std::vector<double> energy_j_per_gpu;      // of a step, as printed
  std::int64_t times_from_rates = 0;  // of the step times: computed from what the line prints
  std::int64_t steps_with_rate = 0;   // where none carries a time: tokens per second
  std::int64_t hidden_steps = 0;      // that were done, and whose time the producer does not print
  // The iterations that something beside training touches, whether they count or not.
  std::map<StepInterruption, std::vector<std::int64_t>> interrupted;
  std::int64_t left_out_steps = 0;  // of those: not wanted, so their values are not kept
  // Steps with a value that print a gradient norm, and those of them whose norm is NaN or infinite.
  std::int64_t steps_with_norm = 0;
  std::int64_t skipped_steps = 0;
  // No step has a time, and some have a rate.
  bool has_rates_only = false;
  // Over 1: each line is the mean of so many iterations, of which the window holds whole ones.
  std::int64_t iterations_per_line = 1;
  std::int64_t iterations_missing = 0;  // those that nothing above tells of; 0: is_whole()

  std::int64_t steps_with_value() const { return steps_with_time + steps_with_rate; }
  bool is_whole() const { return !first_missing_iteration.has_value(); }
  // An optimizer skips a step whose gradient is not finite: such times are not of training.
  bool is_mostly_skipped() const { return 2 * skipped_steps > steps_with_norm; }
};

// Tokens per second, which torchtitan prints; FLOP/s alone may be a guess of NeMo's.
bool has_rate(const StepSample& sample);

// `samples`: all of one segment, ordered by iteration. `without`: steps that one of these touches
// fill the window, but give no values.
WindowCoverage measure_coverage(std::span<const StepSample> samples, const Window& window,
                                const StepInterruptionSet& without = {});

// "checkpoint: 20, 25; evaluation: 30": the iterations that are touched; empty for none.
std::string interruptions_text(const WindowCoverage& coverage);

// Of a producer whose lines are means over `interval` iterations, of a segment that went on to
// `last_iteration`: a line stands for all that it is the mean of. Nothing changes where lines are
// missing, or none is in the window.
void count_interval_lines(WindowCoverage& coverage, const Window& window, std::int64_t interval,
                          std::int64_t last_iteration);

}  // namespace llmb::parser
