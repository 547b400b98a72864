// Each test writes a log whose step i has TFLOPS 1000 + i, so that a shift by one is seen, and asks
// which iteration got which.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <random>

#include "log_samples.h"

namespace llmb::parser {
namespace {

constexpr int kSteps = 50;

// Times of the steps: warm-up, then as given.
using StepTimes = std::function<double(int)>;

double steady(int i) {
  return i == 1 ? 41.2 : i == 2 ? 4.31 : i == 4 ? 3.1 : 2.2;
}
double all_equal(int) {
  return 2.2;
}
double noisy(int i) {
  std::mt19937 random(static_cast<unsigned>(i));
  return steady(i) * std::uniform_real_distribution<double>(0.98, 1.02)(random);
}

std::string format(const char* pattern, auto... values) {
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), pattern, values...);
  return buffer.data();
}

std::string line_a(const StepTimes& times, int i) {
  return format("Step Time : %.2fs GPU utilization: %.1fMODEL_TFLOP/s/GPU\n", times(i), 1000.0 + i);
}

std::string line_b(const StepTimes& times, int i) {
  return format(
      " [2026-01-16 07:32:24] iteration %8d/%8d | consumed samples: %12d | elapsed time per "
      "iteration "
      "(ms): %.1f | learning rate: 3.000000E-05 | global batch size:   128 | lm loss: 1.258695E+01 "
      "| "
      "loss scale: 1.0 | grad norm: 10.275 | number of skipped iterations:   0 | number of nan "
      "iterations:   0 |\n",
      i, kSteps, i * 128, times(i) * 1000);
}

std::map<std::int64_t, double> tflops_of(const std::string& text) {
  std::map<std::int64_t, double> result;
  const ParsedLog log = parse_log(text);
  EXPECT_EQ(log.facts.segments.size(), 1U);
  for (const StepSample& sample : log.samples) {
    result[sample.iteration] = sample.tflops_per_gpu.value_or(0);
  }
  return result;
}

// All iterations have their own TFLOPS but those named, which have none or are not there.
void expect_own_tflops(const std::string& text, const std::vector<int>& without = {},
                       const std::vector<int>& not_there = {}) {
  const auto tflops = tflops_of(text);
  for (int i = 1; i <= kSteps; ++i) {
    if (std::count(not_there.begin(), not_there.end(), i) > 0) {
      EXPECT_FALSE(tflops.contains(i)) << i;
      continue;
    }
    ASSERT_TRUE(tflops.contains(i)) << i;
    const bool has_none = std::count(without.begin(), without.end(), i) > 0;
    EXPECT_EQ(tflops.at(i), has_none ? 0 : 1000 + i) << "iteration " << i;
  }
}

// Where all times are equal from the first line on, a loss in the first lines leaves nothing that
// could tell the log's order.
std::vector<int> lost_steps(const StepTimes& times) {
  if (times(1) == times(2)) return {20, 37, 48, 49, 50};
  return {2, 3, 20, 37, 48, 49, 50};
}

class TflopsPairingTest : public testing::TestWithParam<StepTimes> {};

TEST_P(TflopsPairingTest, StepTimeFirst) {
  std::string text;
  for (int i = 1; i <= kSteps; ++i) text += line_a(GetParam(), i) + line_b(GetParam(), i);
  expect_own_tflops(text);
}

TEST_P(TflopsPairingTest, IterationFirst) {
  std::string text;
  for (int i = 1; i <= kSteps; ++i) text += line_b(GetParam(), i) + line_a(GetParam(), i);
  expect_own_tflops(text);
}

TEST_P(TflopsPairingTest, BothOfOneKindBeforeBothOfTheOther) {
  for (const bool a_first : {true, false}) {
    std::string text;
    for (int i = 1; i <= kSteps; i += 2) {
      const std::string a = line_a(GetParam(), i) + line_a(GetParam(), i + 1);
      const std::string b = line_b(GetParam(), i) + line_b(GetParam(), i + 1);
      text += a_first ? a + b : b + a;
    }
    expect_own_tflops(text);
  }
}

TEST_P(TflopsPairingTest, OneStepTimeLineIsLost) {
  for (const bool a_first : {true, false}) {
    for (const int lost : lost_steps(GetParam())) {
      SCOPED_TRACE(testing::Message() << "lost " << lost << (a_first ? " AB" : " BA"));
      std::string text;
      for (int i = 1; i <= kSteps; ++i) {
        const std::string a = i == lost ? "" : line_a(GetParam(), i);
        text += a_first ? a + line_b(GetParam(), i) : line_b(GetParam(), i) + a;
      }
      expect_own_tflops(text, {lost});
    }
  }
}

TEST_P(TflopsPairingTest, OneIterationLineIsLost) {
  for (const bool a_first : {true, false}) {
    for (const int lost : lost_steps(GetParam())) {
      SCOPED_TRACE(testing::Message() << "lost " << lost << (a_first ? " AB" : " BA"));
      std::string text;
      for (int i = 1; i <= kSteps; ++i) {
        const std::string b = i == lost ? "" : line_b(GetParam(), i);
        text += a_first ? line_a(GetParam(), i) + b : b + line_a(GetParam(), i);
      }
      expect_own_tflops(text, {}, {lost});
    }
  }
}

TEST_P(TflopsPairingTest, StrayStepTimeLineBelongsToNoIteration) {
  for (const bool a_first : {true, false}) {
    for (const int after : {1, 10, 30, 49}) {
      SCOPED_TRACE(testing::Message() << "after " << after << (a_first ? " AB" : " BA"));
      std::string text;
      for (int i = 1; i <= kSteps; ++i) {
        const std::string a = line_a(GetParam(), i);
        text += a_first ? a + line_b(GetParam(), i) : line_b(GetParam(), i) + a;
        if (i == after) text += "Step Time : 11.65s GPU utilization: 7.0TFLOP/s/GPU\n";
      }
      expect_own_tflops(text);
    }
  }
}

TEST_P(TflopsPairingTest, OrderThatChangesNowAndThen) {
  std::string text;
  for (int i = 1; i <= kSteps; ++i) {
    const bool inverted = i % 7 == 3;
    const std::string a = line_a(GetParam(), i);
    const std::string b = line_b(GetParam(), i);
    text += inverted ? b + a : a + b;
  }
  expect_own_tflops(text);
}

TEST_P(TflopsPairingTest, OneLineOfEachKindIsLost) {
  std::string text;
  for (int i = 1; i <= kSteps; ++i) {
    if (i != 20) text += line_a(GetParam(), i);
    if (i != 31) text += line_b(GetParam(), i);
  }
  expect_own_tflops(text, {20}, {31});
}

std::string name_of_times(const testing::TestParamInfo<StepTimes>& times) {
  return times.index == 0 ? "Steady" : times.index == 1 ? "Noisy" : "AllEqual";
}

INSTANTIATE_TEST_SUITE_P(Times, TflopsPairingTest,
                         testing::Values(StepTimes(steady), StepTimes(noisy), StepTimes(all_equal)),
                         name_of_times);

// With times that differ, even the order may be drawn for every step.
TEST(TflopsPairing, RandomOrderWithTimesThatDiffer) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::string text;
    for (int i = 1; i <= kSteps; ++i) {
      const std::string a = line_a(noisy, i);
      const std::string b = line_b(noisy, i);
      text += random() % 2 == 0 ? a + b : b + a;
    }
    expect_own_tflops(text);
  }
}

TEST(TflopsPairing, FirstStepTimeLineIsLost) {
  std::string text;
  for (int i = 1; i <= kSteps; ++i) text += (i == 1 ? "" : line_a(steady, i)) + line_b(steady, i);
  expect_own_tflops(text, {1});
}

TEST(TflopsPairing, TimesThatAreFarApartNeverPair) {
  const auto tflops = tflops_of(line_a([](int) { return 11.65; }, 9) + line_b(all_equal, 1));
  EXPECT_EQ(tflops.at(1), 0);
}

TEST(TflopsPairing, SamplesComeAgainWithTheirTflops) {
  LogReader reader;
  reader.feed(line_b(steady, 1));
  std::vector<StepSample> first = reader.take_samples();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].tflops_per_gpu, std::nullopt);
  reader.feed(line_a(steady, 1));
  const std::vector<StepSample> second = reader.take_samples();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].iteration, 1);
  EXPECT_EQ(second[0].tflops_per_gpu, 1001);
  EXPECT_EQ(second[0].loss, first[0].loss);
  EXPECT_EQ(reader.facts().segments[0].step_count, 1);
}

}  // namespace
}  // namespace llmb::parser
