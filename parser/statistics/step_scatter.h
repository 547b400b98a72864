// How far the steps of a run scatter, as a share of one: what its location may be off by where a
// window holds few steps, or a single one, which shows no scatter of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parser/statistics/window_statistics.h"
#include "parser/step_sample.h"

namespace llmb::parser {

// A window of fewer steps shows no scatter; of none there is nothing to show.
inline constexpr std::int64_t kScatterStepsMin = 3;
inline bool is_too_short_for_scatter(std::int64_t step_count) {
  return step_count > 0 && step_count < kScatterStepsMin;
}

// `times`: of kScatterStepsMin or more. Slow steps are left out: in standard deviations of a
// normal distribution.
double step_scatter_of(const WindowStatistics& times);

// The newest steps of a run, which stand for those of a window that shows no scatter.
struct SteadySteps {
  double step_time_s = 0;  // their median
  double scatter = 0;
};
// `newest_first`: kNewestSteps where there are as many. The older half may be warm-up, and is left
// out. Nothing where what is left is too little.
inline constexpr std::int64_t kNewestSteps = 64;
std::optional<SteadySteps> steady_steps_of(std::vector<double> newest_first);

// The times of the newest steps of a log that is being read.
class NewestStepTimes {
 public:
  void add(const StepSample& sample);  // in their order; an amended one comes again
  std::vector<double> newest_first() const;

 private:
  struct Step {
    std::int32_t segment = 0;
    std::int64_t iteration = 0;
    double time_s = 0;
  };
  std::vector<Step> steps_;  // up to twice kNewestSteps, the newest last
};

}  // namespace llmb::parser
