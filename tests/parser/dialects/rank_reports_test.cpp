// What straggler detectors, timers over all ranks, NVRx and sniff tests say of ranks.
#include "parser/dialects/rank_reports.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parser/reader/log_reader.h"

namespace llmb::parser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RankEvidence ranks_of(std::string_view log) {
  return parse_log(log).facts.ranks;
}

// "highest round_trip_time 3.4682 s of 0": a row as a sentence; " x2" where it was said twice.
std::string told(const RankMeasure& measure) {
  std::string text = fmt::format("{} {}", rank_place_name(measure.place), measure.quantity);
  if (measure.values) text += fmt::format(" {} {}", measure.values->sum, measure.unit);
  if (measure.is_of_other_ranks) text += " of others";
  if (measure.rank) text += fmt::format(" of {}", *measure.rank);
  if (!measure.node.empty()) text += " at " + measure.node;
  if (measure.count != 1) text += fmt::format(" x{}", measure.count);
  return text;
}

std::vector<std::string> told_by(std::string_view log) {
  std::vector<std::string> all;
  for (const RankMeasure& measure : ranks_of(log).measures) all.push_back(told(measure));
  return all;
}

TEST(RankReports, OfTheStragglerDetectorAreInSiUnits) {
  const std::string line =
      " 0: INFO:megatron.core.utils:[2026-03-14 23:07:56] | MnRtt/Rnk: 3453.08ms/8 |"
      " MxRtt/Rnk: 3468.20ms/0 | MnPwr/Rnk: 601796W/8 | MxPwr/Rnk: 683.5W/18 | MnTmp/Rnk: 52C/0 |"
      " MxUtl/Rnk: 97%/6 | MxClk/Rnk: 1980MHz/0 | MnDRtt/Rnk: 14.27ms/23 | MxEtpt/Rnk: 297.32TF/8";
  EXPECT_THAT(
      told_by(line + "\n"),
      ElementsAre("lowest round_trip_time 3.45308 s of 8", "highest round_trip_time 3.4682 s of 0",
                  "lowest power 601.796 W of 8",  // milliwatts, called watts
                  "highest power 683.5 W of 18", "lowest temperature 52 °C of 0",
                  "highest utilization 0.97 1 of 6", "highest clock 1980000000 Hz of 0",
                  "lowest batch_load_time 0.01427 s of 23",
                  "highest estimated_throughput 297.32 TFLOP/s of 8"));
}

TEST(RankReports, OfTheStragglerDetectorLeaveOutWhatIsDamaged) {
  EXPECT_THAT(
      told_by("| MnRtt/Rnk: 1.5ms/ | MxRtt/Rnk: fast/3 | MnPwr/Rnk: 3 W | MxPwr/Rnk: 5W/-1"
              " | MnTmp/Rnk: nan/4 | MxTmp/Rnk: 9furlongs/4 | MxHum/Rnk: 5%/1 | Mx/Rnk: 5%/1"
              " | MxUtl/Rnk: 100.00%/6\n"),
      ElementsAre("highest utilization 1 1 of 6"));
}

TEST(RankReports, OfListedRanksCountThoseOfTheReportOnce) {
  EXPECT_THAT(
      told_by("| MnRtt/Rnk: 1ms/2 | MnEtpt/Rnk: 296.02TF/0 | MxEtpt/Rnk: 297.32TF/8\n"
              "^^^^ Bottom 3 Ranks with lowest  Etpt(TF): 296.02/0, 296.17/2, 296.23/1,\n"
              "^^^^ Top    3 Ranks with highest Etpt(TF): 297.28/15, 297.28/11, 297.32/8,\n"),
      ElementsAre("lowest round_trip_time 0.001 s of 2",
                  "lowest estimated_throughput 296.02 TFLOP/s of 0",
                  "lowest estimated_throughput 296.23 TFLOP/s of 1",
                  "lowest estimated_throughput 296.17 TFLOP/s of 2",
                  "highest estimated_throughput 297.32 TFLOP/s of 8",
                  "highest estimated_throughput 297.28 TFLOP/s of 11",
                  "highest estimated_throughput 297.28 TFLOP/s of 15"));
}

TEST(RankReports, OfTimersAreTheLowestAndTheHighest) {
  const std::string line = "    forward-backward ...............................: (70.5, 93.12)\n";
  const std::string block = "(min, max) time across ranks (ms):\n" + line;
  const auto twice =
      ElementsAre("lowest forward-backward 0.141 s x2", "highest forward-backward 0.18624 s x2");
  EXPECT_THAT(told_by(block + block), twice);
  EXPECT_THAT(told_by(block + std::string(8192, 'x') + "\n" + line), twice);
  // As the documents print a checkpoint: on one line.
  EXPECT_THAT(
      told_by("  successfully saved checkpoint from iteration 50 to /x [ t 1/1, p 1/1 ]"
              " (min, max) time across ranks (ms): save-checkpoint ....: (24895.07,"
              " 24895.13)\n"),
      ElementsAre("lowest save-checkpoint 24.89507 s", "highest save-checkpoint 24.89513 s"));
}

TEST(RankReports, OfTimersStandBelowTheHeadOfTheHighest) {
  const std::string line = "    optimizer .....: 12.5\n";
  const std::string block = "max time across ranks (ms):\n" + line;
  EXPECT_THAT(told_by(block), ElementsAre("highest optimizer 0.0125 s"));
  EXPECT_THAT(told_by(line), IsEmpty());
  EXPECT_THAT(told_by(block + std::string(8192, 'x') + "\n" + line),
              ElementsAre("highest optimizer 0.0125 s"));
}

TEST(RankReports, OfTimersLeaveOutWhatIsDamaged) {
  const std::string head = "(min, max) time across ranks (ms):\n    ";
  for (const char* line :
       {"optimizer .....: (1.5, x)", "optimizer .....: (1.5", "optimizer .....: 1.5",
        "optimizer .....: (1.5, 2.5) and more", "(a b) .....: (1.5, 2.5)", ".....: (1.5, 2.5)",
        "optimizer .....: (-1.5, 2.5)"}) {
    EXPECT_THAT(told_by(head + line + "\n"), IsEmpty()) << line;
  }
}

TEST(RankReports, OfEachRanksTimeAreTheLowestAndTheHighest) {
  const std::string block =
      "times across ranks (ms):\n  forward-backward:\n     rank  0: 70.5\n     rank  1: 93.5\n"
      "     rank 10: 60.5\n";
  EXPECT_THAT(told_by(block), ElementsAre("lowest forward-backward 0.0605 s of 10",
                                          "highest forward-backward 0.0935 s of 1"));
  // The ranks of a timer that is not read begin anew.
  EXPECT_THAT(told_by(block + "  some-timer:\n     rank  0: 1.5\n     rank  1: 2.5\n"
                              "  optimizer:\n     rank  0: 5.0\n"),
              ElementsAre("lowest forward-backward 0.0605 s of 10",
                          "highest forward-backward 0.0935 s of 1", "lowest optimizer 0.005 s of 0",
                          "highest optimizer 0.005 s of 0"));
}

TEST(RankReports, OfEachRanksTimeAreNotGuessed) {
  const std::string head = "times across ranks (ms):\n  forward-backward:\n     rank  0: 70.5\n";
  const std::string rest = "     rank  1: 93.5\n";
  // Another program's line, or another timer's name: whose the second time is, is not known.
  EXPECT_THAT(told_by(head + "something else\n" + rest), IsEmpty());
  EXPECT_THAT(told_by("times across ranks (ms):\n  some-timer:\n" + rest), IsEmpty());
  EXPECT_THAT(told_by("  forward-backward:\n     rank  0: 70.5\n"), IsEmpty()) << "no block";
  EXPECT_THAT(told_by("times across ranks (ms):\r\n  optimizer:\r\n     rank  0: 70.5\r\n"),
              ElementsAre("lowest optimizer 0.0705 s of 0", "highest optimizer 0.0705 s of 0"));
}

TEST(RankReports, OfScoresNameRankAndNode) {
  EXPECT_THAT(told_by("GPU relative performance:\n Worst performing 1/512 ranks:\n"
                      "  Rank=76 Node=h100-12 Score=0.94\n Best performing 1/512 ranks:\n"
                      "  Rank=432 Node=h100-9 Score=0.99\n\nGPU individual performance:\n"
                      "  Rank=3 Node=n Score=1.00\n  Rank=4 Node=n Score=nan\n"),
              ElementsAre("lowest gpu_relative_performance 0.94 1 of 76 at h100-12",
                          "highest gpu_relative_performance 0.99 1 of 432 at h100-9",
                          "each gpu_individual_performance 1 1 of 3 at n"));
  EXPECT_THAT(told_by("  Rank=76 Node=h100-12 Score=0.94\n"), IsEmpty()) << "of what?";
  EXPECT_THAT(told_by("gpu_individual_perf scores: {'gpu_individual_perf/min': 0.5,"
                      " 'gpu_individual_perf/median': nan, 'gpu_individual_perf/max': 0.75}\n"),
              ElementsAre("lowest gpu_individual_performance 0.5 1",
                          "highest gpu_individual_performance 0.75 1"));
}

TEST(RankReports, OfWarningsNameTheFlaggedRanks) {
  const std::string warning = "STRAGGLER DETECTION WARNING: Some GPUs ";
  EXPECT_THAT(
      told_by(warning + "have worse relative performance. Affected ranks:"
                        " {StragglerId(rank=7, node='a-1'), StragglerId(rank=9, node='b')}\n"),
      ElementsAre("flagged gpu_relative_performance of 7 at a-1",
                  "flagged gpu_relative_performance of 9 at b"));
  EXPECT_THAT(told_by(warning + "performance dropped. Affected ranks: [76, 13]\n"),
              ElementsAre("flagged gpu_individual_performance of 13",
                          "flagged gpu_individual_performance of 76"));
  EXPECT_THAT(told_by(warning + "performance dropped. Affected ranks: []\n" + warning), IsEmpty());
}

TEST(RankReports, OfSniffTestsNameTheirOutliers) {
  const std::string gemm =
      "INFO:x:  GEMM throughput (8192x8192x8192, bf16, up-proj/fc1) [TFLOP/s/GPU]: median=711.5,"
      " mean=700.25, min=612.5, max=716.5\n";
  const std::string name = "GEMM throughput (8192x8192x8192, bf16, up-proj/fc1)";
  EXPECT_THAT(told_by(gemm + "WARNING:x:    OUTLIER rank 11 (node-2): 612.5 (-13.9%)\n"),
              ElementsAre("lowest " + name + " 612.5 TFLOP/s", "median " + name + " 711.5 TFLOP/s",
                          "highest " + name + " 716.5 TFLOP/s",
                          "flagged " + name + " 612.5 TFLOP/s of 11 at node-2"));
  EXPECT_THAT(told_by("  All-reduce busbw (global PG, size=16, 268 MB) [GB/s]: median=371.5,"
                      " mean=1, min=370.5, max=372.5\n    OUTLIER rank 3: 370.5 (-0.1%)\n")
                  .back(),
              "flagged All-reduce busbw (global PG, size=16, 268 MB) 370500000000 B/s of 3");
  EXPECT_THAT(told_by("    OUTLIER rank 11 (node-2): 612.5 (-13.9%)\n"), IsEmpty());
  EXPECT_THAT(told_by("latency [furlongs]: median=1, mean=1, min=1, max=1\n"), IsEmpty());
}

TEST(RankReports, KeepTheRankThatIsNamedAgainAndAgain) {
  std::string log;
  for (int i = 0; i < 400; ++i) {
    log += fmt::format("| MnRtt/Rnk: 1ms/{} | MxRtt/Rnk: {}ms/{}\n", i, 100 + i % 7,
                       i < 100 || i % 4 == 0 ? i : 77777);
  }
  const RankEvidence ranks = ranks_of(log);
  ASSERT_EQ(ranks.measures.size(), 2 * (kRanksOfQuantityMax + 1));
  EXPECT_EQ(ranks.values_left_out, 0);
  const RankMeasure& slow = ranks.measures[kRanksOfQuantityMax + 1];
  EXPECT_EQ(slow.rank, 77777);
  EXPECT_EQ(slow.count, 225);
  std::int64_t count = 0;
  for (std::size_t i = 0; i <= kRanksOfQuantityMax; ++i) count += ranks.measures[i].count;
  EXPECT_EQ(count, 400) << "none is lost";
  const RankMeasure& others = ranks.measures[kRanksOfQuantityMax];
  EXPECT_TRUE(others.is_of_other_ranks);
  EXPECT_EQ(others.rank, std::nullopt);
  EXPECT_EQ(others.count, 400 - static_cast<std::int64_t>(kRanksOfQuantityMax));
  EXPECT_NEAR(others.values->sum, 0.001 * static_cast<double>(others.count), 1e-9);
}

TEST(RankReports, StaySmallWhateverTheLog) {
  std::string log = "(min, max) time across ranks (ms):\n";
  for (int i = 0; i < 300; ++i) log += fmt::format("    timer-{} ....: (1, 2)\n", i);
  LogReader reader;
  reader.feed(log);
  EXPECT_EQ(reader.facts().ranks.measures.size(), kRankMeasuresMax);
  EXPECT_EQ(reader.facts().ranks.values_left_out, 600 - static_cast<int>(kRankMeasuresMax));
  const std::string state = reader.save_state();
  EXPECT_LT(state.size(), 64U << 10U);
  auto restored = LogReader::restore(state);
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(restored->facts().ranks, reader.facts().ranks);
  EXPECT_EQ(restored->save_state(), state);
}

}  // namespace
}  // namespace llmb::parser
