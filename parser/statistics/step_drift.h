// StepDrift: whether the step time changes slowly over a run. The slope is Theil and Sen's
// (robust_line.h), which slow steps do not move; it is held against chance by
// Student's t with as many independent values as the correlation of neighbouring steps leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace llmb::parser {

// With fewer steps nothing is said: the correlation of neighbours is not known well enough.
inline constexpr std::size_t kDriftStepsMin = 30;
// Of simulated runs without a drift whose steps are correlated by 0.6 (AR(1)), about 1 % pass this.
inline constexpr double kDriftPValueMax = 0.001;
// Less than this over the run is not worth telling.
inline constexpr double kDriftShareMin = 0.01;

struct StepDrift {
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  double relative_change = 0;  // from the first of them to the last, of the median step time
  double p_value = 0;

  bool operator==(const StepDrift&) const = default;
};

struct DriftStep {
  std::int64_t iteration = 0;
  double time_s = 0;
};

// The test by itself; nothing where there are too few steps, or they do not vary. `resolution_s`:
// half of the last printed digit, by which rounding alone moves a time.
std::optional<StepDrift> test_drift(std::span<const DriftStep> steps, double resolution_s);

// One that is shown, and large enough to tell. `steps`: after warm-up, in order.
std::optional<StepDrift> find_drift(std::span<const DriftStep> steps, double resolution_s);

}  // namespace llmb::parser
