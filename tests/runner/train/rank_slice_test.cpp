// One rank of a layout alone: its share of the work, its calls, and a log that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parser/dialects/stated_configuration.h"
#include "parser/reader/log_reader.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_with(const std::string& text, const std::string& what) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(what) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

Arguments slice_of(const Arguments& layout, int rank) {
  return joined(layout, {"--steps", "2", "--rank-slice", std::to_string(rank)});
}

TEST(RankSlice, EveryLineSaysThatItIsNoWholeRun) {
  for (const char* format : {"nemo", "megatron-bridge"}) {
    SCOPED_TRACE(format);
    const TinyRun run =
        run_tiny(slice_of(tiny_llama({"--scale", "64", "--tp", "2", "--pp", "2",
                                      "--global-batch-size", "64", "--log-format", format}),
                          37));
    const std::string label = "rank-slice: 37 of 64, no communication";
    EXPECT_THAT(run.log, HasSubstr(label + ": one rank's share"));
    const bool is_nemo = std::string(format) == "nemo";
    const auto steps = lines_with(run.log, is_nemo ? "train_step_timing" : "iteration   ");
    EXPECT_EQ(steps.size(), 2U);
    for (const std::string& line : steps) EXPECT_THAT(line, HasSubstr(label));
    for (const std::string& line : lines_with(run.log, "Step Time")) {
      EXPECT_THAT(line, HasSubstr(label));
    }
    // llmb-report reads the times, and that they are a slice's.
    const parser::ParsedLog log = parser::parse_log(run.log);
    EXPECT_EQ(log.samples.size(), 2U);
    EXPECT_EQ(log.facts.lines_not_understood, 0);
    EXPECT_THAT(run.log, HasSubstr(" rank_count=64 rank_slice=37 "));
  }
}

// A dense layout's calls do not depend on the data: rank 0 alone makes those that it makes with
// the others, of the same sizes.
TEST(RankSlice, MakesTheCallsOfItsRank) {
  const Arguments layout =
      tiny_llama({"--tp", "2", "--cp", "2", "--pp", "2", "--global-batch-size", "2", "--vp", "2"});
  const auto calls_of = [](const TinyRun& run) {
    std::map<std::string, std::pair<int, long long>> calls;
    const auto line = nlohmann::json::parse(run.phases.substr(0, run.phases.find('\n')));
    for (const auto& [group, totals] : line["communication"].items()) {
      calls[group] = {totals["calls"].get<int>(), totals["bytes_sent"].get<long long>()};
    }
    return calls;
  };
  const auto whole = calls_of(run_tiny(joined(layout, {"--virtual-ranks", "8", "--steps", "1"})));
  const auto slice = calls_of(run_tiny(slice_of(joined(layout, {"--scale", "8"}), 0)));
  EXPECT_GE(whole.size(), 5U);
  EXPECT_EQ(slice, whole);
}

// Every place of a layout with experts: first, middle and last stages, whatever the router chose.
TEST(RankSlice, RunsEveryRankOfALayoutWithExperts) {
  const Arguments layout = tiny_grok({"--scale", "8", "--tp", "2", "--pp", "2", "--cp", "2", "--ep",
                                      "4", "--etp", "1", "--global-batch-size", "2"});
  for (int rank = 0; rank < 8; ++rank) {
    SCOPED_TRACE(rank);
    EXPECT_EQ(parser::parse_log(run_tiny(slice_of(layout, rank)).log).samples.size(), 2U);
  }
}

TEST(RankSlice, RefusesWhatASliceCannotDo) {
  const auto refusal = [](const Arguments& more) {
    try {
      run_tiny(tiny_llama(joined({"--scale", "4", "--global-batch-size", "4"}, more)));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refusal({"--rank-slice", "4"}), HasSubstr("ranks 0 to 3"));
  EXPECT_THAT(refusal({"--rank-slice", "1", "--virtual-ranks", "4"}), HasSubstr("alone"));
  EXPECT_THAT(refusal({"--rank-slice", "1", "--checkpoint"}), HasSubstr("save or load"));
}

}  // namespace
}  // namespace llmb::runner
