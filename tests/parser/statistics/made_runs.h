// MadeRuns: runs of one configuration with the noise that comparisons are held to: they differ by
// 0.5 % from run to run, their steps are correlated (AR(1) of 0.6, 0.5 % each), and 2 % of these
// take half as long again. A window of one or two steps is the last of a run.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/step_scatter.h"
#include "parser/statistics/window_statistics.h"

namespace llmb::parser {

class MadeRuns {
 public:
  explicit MadeRuns(std::uint64_t seed) : random_(seed) {}

  // `shift`: of the logarithm of its step times. No two have one id.
  ComparedRun run(double shift, const Window& window) {
    constexpr double kRunNoise = 0.005;
    constexpr double kCorrelation = 0.6;
    constexpr double kStepNoise = 0.005;
    const double level = shift + kRunNoise * normal_(random_);
    double step = normal_(random_);
    const bool shows_scatter = !is_too_short_for_scatter(window.size());
    const std::int64_t steps = shows_scatter ? window.size() : kNewestSteps;
    std::vector<double> times(static_cast<std::size_t>(steps));
    for (double& time : times) {
      step = kCorrelation * step + std::sqrt(1 - kCorrelation * kCorrelation) * normal_(random_);
      const double slow = uniform_(random_) < 0.02 ? 1.5 : 1.0;
      time = std::exp(level + kStepNoise * step) * slow;
    }
    ComparedRun made;
    if (!shows_scatter) {
      made.steady_steps = steady_steps_of({times.rbegin(), times.rend()});
      times.erase(times.begin(), times.end() - window.size());
    }
    made.id = ++id_;
    for (const auto& [key, value] : {std::pair{"workload", "own"}, std::pair{"gpu_type", "h100"},
                                     std::pair{"gpu_count", "64"}}) {
      made.configuration.set(key, value, ConfigSource::path);
    }
    made.judgement.summary.status = RunStatus::complete;
    made.judgement.summary.window = window;
    made.judgement.summary.step_time_s = compute_window_statistics(times);
    return made;
  }

  std::vector<ComparedRun> runs(std::size_t count, double shift, const Window& window) {
    std::vector<ComparedRun> made;
    while (made.size() < count) made.push_back(run(shift, window));
    return made;
  }

  // `configurations` of three runs each over `window`, none of which is that of the others.
  std::vector<ComparedRun> other_configurations(int configurations, const Window& window) {
    std::vector<ComparedRun> made;
    for (int i = 0; i < configurations; ++i) {
      for (int k = 0; k < 3; ++k) {
        made.push_back(run(0, window));
        made.back().configuration.set("node_count", std::to_string(i + 2), ConfigSource::path);
      }
    }
    return made;
  }

  // Not of runs.
  std::mt19937_64& random() { return random_; }

 private:
  std::int64_t id_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace llmb::parser
