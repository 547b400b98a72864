// What users' own scripts take of a log: steps by their position, whatever program printed them.
#include <gtest/gtest.h>

#include <map>

#include "parser/statistics/agreement.h"

namespace llmb::parser {
namespace {

std::map<std::string, ToolResult> results_of(std::int64_t first, std::int64_t last) {
  std::vector<StepSample> samples;
  for (std::int64_t i = first; i <= last; ++i) {
    StepSample sample;
    sample.iteration = i;
    sample.step_time_s = static_cast<double>(i - first + 1);  // its position
    samples.push_back(sample);
  }
  LogFacts facts;
  facts.dialect = Dialect::maxtext;
  facts.segments.resize(1);
  std::map<std::string, ToolResult> results;
  for (ToolResult& result : compute_agreement(samples, facts, {})) {
    if (result.source == "scripts of users") results[result.tool] = std::move(result);
  }
  return results;
}

TEST(Agreement, KnowsWhatScriptsTakeByPosition) {
  auto results = results_of(0, 99);
  ASSERT_EQ(results.size(), 4U);
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
