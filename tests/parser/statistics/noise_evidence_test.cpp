#include "parser/statistics/noise_evidence.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "parser/statistics/moderated_test.h"
#include "tests/parser/statistics/made_runs.h"

namespace llmb::parser {
namespace {

// A drift goes on over the runs that are compared, and the repeats on both sides of them lie on
// one line.
TEST(NoiseEvidence, OfALevelThatDriftsIsAboutItsLine) {
  constexpr double kDriftPerRun = 0.003;
  MadeRuns made(7);
  std::vector<ComparedRun> runs = made.runs(30, 0, {11, 44});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double level = 5 * std::exp(kDriftPerRun * static_cast<double>(i));
    const double noise = i % 2 == 0 ? 0.001 : -0.001;
    const std::vector<double> times(34, level * (1 + noise));
    runs[i].judgement.summary.step_time_s = compute_window_statistics(times);
  }
  const std::vector<NoiseRun> known = noise_runs(runs);
  std::vector<const NoiseRun*> tested;
  for (std::size_t i = 8; i < 20; ++i) tested.push_back(&known[i]);
  const RunNoise noise = noise_for(tested, known);
  EXPECT_EQ(noise.repeat_count, 18);
  const double deviation = std::sqrt(noise.repeat_squares / noise.repeat_degrees_of_freedom);
  EXPECT_NEAR(deviation, 0.001, 0.0003);
}

}  // namespace
}  // namespace llmb::parser
