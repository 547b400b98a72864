// What users' own scripts take of a log: steps by their position, whatever program printed them.
#include <gtest/gtest.h>

#include <map>

#include "parser/statistics/agreement.h"

namespace llmb::parser {
namespace {

std::map<std::string, ToolResult> results_of(const std::vector<StepSample>& samples,
                                             Dialect dialect) {
  LogFacts facts;
  facts.dialect = dialect;
  facts.segments.resize(1);
  std::map<std::string, ToolResult> results;
  for (ToolResult& result : compute_agreement(samples, facts, {})) {
    if (result.source == "scripts of users") results[result.tool] = std::move(result);
  }
  return results;
}

std::map<std::string, ToolResult> results_of(std::int64_t first, std::int64_t last) {
  std::vector<StepSample> samples;
  for (std::int64_t i = first; i <= last; ++i) {
    StepSample sample;
    sample.iteration = i;
    sample.step_time_s = static_cast<double>(i - first + 1);  // its position
    samples.push_back(sample);
  }
  return results_of(samples, Dialect::maxtext);
}

TEST(Agreement, KnowsWhatScriptsTakeByPosition) {
  auto results = results_of(0, 99);
  ASSERT_EQ(results.size(), 7U);
  EXPECT_EQ(results["all but the first 5 steps"].step_count, 95);
  EXPECT_EQ(*results["all but the first 5 steps"].step_time_s_mean, 53);
  EXPECT_EQ(results["all but the first 10 % of the steps"].step_count, 90);
  EXPECT_EQ(*results["steps 2 to 6"].step_time_s_mean, 4);
  EXPECT_EQ(results["steps 2 to 6"].step_count, 5);
  EXPECT_EQ(*results["the first 60 steps"].step_time_s_mean, 30.5);
  EXPECT_EQ(results["the first 60 steps"].window, "the first 60 steps");
}

TEST(Agreement, OfShortLogsByPositionIsWhatIsThere) {
  auto results = results_of(11, 14);
  EXPECT_FALSE(results["all but the first 5 steps"].gives_result);
  EXPECT_EQ(results["all but the first 10 % of the steps"].step_count, 4);
  EXPECT_EQ(results["steps 2 to 6"].step_count, 3);
  EXPECT_EQ(results["the first 60 steps"].step_count, 4);
}

TEST(Agreement, HasEveryWindowInUseOfEveryDialect) {
  std::vector<StepSample> samples;
  for (std::int64_t i = 1; i <= 100; ++i) {
    samples.emplace_back().iteration = i;
    samples.back().step_time_s = static_cast<double>(i);
    samples.back().tflops_per_gpu = 402;
  }
  const std::map<std::string, std::pair<std::int64_t, double>> wanted = {
      {"iterations 11 to 44", {34, 27.5}},
      {"iterations 35 to 44", {10, 39.5}},
      {"the last 10 steps", {10, 95.5}},
      {"all but the first 5 steps", {95, 53}},
      {"all but the first 10 % of the steps", {90, 55.5}},
      {"steps 2 to 6", {5, 4}},
      {"the first 60 steps", {60, 30.5}}};
  for (const DialectTraits& traits : dialects()) {
    if (!is_read(traits.dialect)) continue;
    auto results = results_of(samples, traits.dialect);
    ASSERT_EQ(results.size(), wanted.size());
    for (const auto& [tool, figures] : wanted) {
      const ToolResult& result = results[tool];
      ASSERT_TRUE(result.gives_result) << traits.name << ", " << tool << ": " << result.reason;
      EXPECT_EQ(result.step_count, figures.first) << traits.name << ", " << tool;
      EXPECT_EQ(*result.step_time_s_mean, figures.second) << traits.name << ", " << tool;
      EXPECT_EQ(result.tflops_per_gpu_mean, 402) << traits.name << ", " << tool;
    }
  }
}

TEST(Agreement, SaysOfRatesWithoutTimesThatTheyAreSuch) {
  std::vector<StepSample> samples;
  for (std::int64_t i = 1; i <= 100; ++i) {
    samples.emplace_back().iteration = i;
    samples.back().extra_fields = {{"tps", 1000}};
  }
  for (const auto& [tool, result] : results_of(samples, Dialect::torchtitan)) {
    EXPECT_EQ(result.reason, "the log's steps have rates and no times: no row") << tool;
  }
}

TEST(Agreement, CallsTheStepsOfAnIntervalLines) {
  std::vector<StepSample> samples;
  for (const std::int64_t i : {1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}) {
    samples.emplace_back().iteration = i;
    samples.back().step_time_s = 5;
  }
  auto results = results_of(samples, Dialect::megatron_lm);
  EXPECT_NE(
      results["the first 60 steps"].why.find("its 11 steps are lines, at iterations 1 to 100"),
      std::string::npos)
      << results["the first 60 steps"].why;
  EXPECT_EQ(results_of(0, 99)["the first 60 steps"].why.find("lines"), std::string::npos);
}

TEST(Agreement, OfTheLastStepIsTheSameWhereOurResultIsMadeOfIt) {
  std::vector<StepSample> samples(50);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].iteration = static_cast<std::int64_t>(i);
    samples[i].step_time_s = 2.0;
  }
  LogFacts facts;
  facts.dialect = Dialect::nemo;
  facts.segments.resize(1);
  facts.segments.front().last_iteration = 49;
  RunSummary ours;
  ours.status = RunStatus::complete;
  ours.window = {49, 49};
  ours.step_time_s.emplace();
  ours.step_time_s->count = 1;
  ours.step_time_s->mean = 2.0;
  const auto why = [&] {
    for (const ToolResult& result : compute_agreement(samples, facts, ours)) {
      if (result.tool == "spreadsheet") return result.why;
    }
    return std::string("no such tool");
  };
  EXPECT_EQ(why(), "same steps, same mean");
  ours.window = {11, 44};
  EXPECT_EQ(why(), "averages last step, ours 11-44");
}

}  // namespace
}  // namespace llmb::parser
