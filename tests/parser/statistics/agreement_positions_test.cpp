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

}  // namespace
}  // namespace llmb::parser
