#include "parser/statistics/step_scatter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace llmb::parser {
namespace {

StepSample step_of(std::int32_t segment, std::int64_t iteration, double time_s) {
  StepSample sample;
  sample.segment = segment;
  sample.iteration = iteration;
  sample.step_time_s = time_s;
  return sample;
}

TEST(StepScatter, IsThatOfTheNewerHalfWithoutSlowSteps) {
  std::vector<double> newest_first;
  for (int i = 0; i < 40; ++i) newest_first.push_back(2 + 0.02 * std::sin(i));
  newest_first[7] = 3.5;
  for (int i = 0; i < 40; ++i) newest_first.push_back(9 + i);  // warm-up
  const auto steady = steady_steps_of(newest_first);
  ASSERT_TRUE(steady);
  EXPECT_NEAR(steady->step_time_s, 2, 0.01);
  EXPECT_NEAR(steady->scatter, 0.0071, 0.003);
}

TEST(StepScatter, OfTooFewStepsIsNotKnown) {
  EXPECT_FALSE(steady_steps_of({}));
  EXPECT_FALSE(steady_steps_of(std::vector<double>(9, 2.0)));
  EXPECT_TRUE(steady_steps_of(std::vector<double>(10, 2.0)));
  std::vector<double> without_times(12, NAN);
  EXPECT_FALSE(steady_steps_of(without_times));
}

TEST(NewestStepTimes, KeepsTheLastOfALongLog) {
  NewestStepTimes newest;
  for (int i = 1; i <= 1'000; ++i) newest.add(step_of(0, i, i));
  const auto times_s = newest.newest_first();
  ASSERT_EQ(static_cast<std::int64_t>(times_s.size()), kNewestSteps);
  EXPECT_EQ(times_s.front(), 1'000);
  EXPECT_EQ(times_s.back(), 1'001 - kNewestSteps);
}

TEST(NewestStepTimes, TakesAnAmendedStepOnce) {
  NewestStepTimes newest;
  newest.add(step_of(0, 8, 2));
  newest.add(step_of(1, 5, 3));
  newest.add(step_of(1, 6, 4));
  newest.add(step_of(1, 5, 7));
  StepSample without_time = step_of(1, 7, 0);
  without_time.step_time_s.reset();
  newest.add(without_time);
  EXPECT_EQ(newest.newest_first(), (std::vector<double>{4, 7, 2}));
}

}  // namespace
}  // namespace llmb::parser
