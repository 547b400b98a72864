#include "runner/cpu/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runner/cpu/parallel_for.h"
#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

// The paper's algorithm 2, a scalar at a time.
double reference(double parameter, const std::vector<double>& gradients, const AdamWSettings& s) {
  double m = 0;
  double v = 0;
  for (std::size_t t = 1; t <= gradients.size(); ++t) {
    const double g = gradients[t - 1];
    m = s.beta1 * m + (1 - s.beta1) * g;
    v = s.beta2 * v + (1 - s.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(s.beta1, static_cast<double>(t)));
    const double v_hat = v / (1 - std::pow(s.beta2, static_cast<double>(t)));
    parameter -=
        s.learning_rate * (m_hat / (std::sqrt(v_hat) + s.epsilon) + s.weight_decay * parameter);
  }
  return parameter;
}

TEST(AdamW, FollowsThePaper) {
  const AdamWSettings settings{0.01, 0.9, 0.95, 1e-8, 0.1};
  const std::vector<double> gradients = {0.5, -2, 1e-3, 0};
  std::vector<double> parameter = {3};
  std::vector<double> first = {0};
  std::vector<double> second = {0};
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    const std::vector<double> doubled = {2 * gradients[t]};  // clipped to the half
    AdamW<double>::update(settings, static_cast<std::int64_t>(t) + 1, 0.5, doubled, parameter,
                          first, second);
  }
  EXPECT_NEAR(parameter[0], reference(3, gradients, settings), 1e-14);
}

TEST(AdamW, SharesAStretchWithoutChangingABit) {
  std::vector<double> wide(40000);
  testing::fill_random(wide, 1);
  const std::vector<float> gradients(wide.begin(), wide.end());
  const auto run = [&](int threads, std::size_t cut) {
    set_threads_per_rank(threads);
    std::vector<float> parameters(gradients.size(), 1);
    std::vector<float> first(gradients.size());
    std::vector<float> second(gradients.size());
    for (const auto& [from, count] :
         {std::pair(std::size_t{0}, cut), std::pair(cut, gradients.size() - cut)}) {
      AdamW<float>::update({}, 1, 1, std::span(gradients).subspan(from, count),
                           std::span(parameters).subspan(from, count),
                           std::span(first).subspan(from, count),
                           std::span(second).subspan(from, count));
    }
    set_threads_per_rank(1);
    return parameters;
  };
  EXPECT_EQ(run(1, 40000), run(2, 12345));
}

TEST(AdamW, SumsSquaresTheSameWithAnyThreads) {
  std::vector<double> wide(100000);
  testing::fill_random(wide, 2);
  const std::vector<float> gradients(wide.begin(), wide.end());
  const double alone = AdamW<float>::sum_of_squares(gradients);
  set_threads_per_rank(2);
  EXPECT_EQ(AdamW<float>::sum_of_squares(gradients), alone);
  set_threads_per_rank(1);
  EXPECT_NEAR(alone, 100000 / 3.0, 200);
}

TEST(ClipScale, BringsLongGradientsToTheLimitAndLeavesShortOnes) {
  EXPECT_EQ(clip_scale(0.5, 1), 1);
  EXPECT_EQ(clip_scale(7, 0), 1);
  EXPECT_NEAR(clip_scale(4, 1), 0.25, 1e-6);
}

}  // namespace
}  // namespace llmb::runner::cpu
