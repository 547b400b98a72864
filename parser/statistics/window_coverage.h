// WindowCoverage: how much of a Window one segment's samples fill, and the values that do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

  bool is_whole() const { return !first_missing_iteration.has_value(); }
};

// `samples`: all of one segment, ordered by iteration.
WindowCoverage measure_coverage(std::span<const StepSample> samples, const Window& window);

}  // namespace llmb::parser
