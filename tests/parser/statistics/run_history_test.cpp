#include "parser/statistics/run_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

ComparedRun run_at(std::int64_t job, double step_time_s, const std::string& release) {
  ComparedRun run;
  run.id = job;
  run.job_id = job;
  run.dialect = Dialect::nemo;
  for (const auto& [key, value] : {std::pair{"workload", "own"}, std::pair{"model_size", "7b"},
                                   std::pair{"gpu_count", "64"}}) {
    run.configuration.set(key, value, ConfigSource::llmb_config);
  }
  run.configuration.set("release", release, ConfigSource::llmb_config);
  run.judgement.summary.status = RunStatus::complete;
  run.judgement.summary.window = {11, 44};
  run.judgement.summary.step_time_s = {34,          step_time_s, 0,           0,
                                       step_time_s, step_time_s, step_time_s, step_time_s};
  return run;
}

std::vector<HistorySeries> history_of(const std::vector<ComparedRun>& runs,
                                      const RunSelection& selection, const RunMarkSet& included) {
  TreeClusters trees;
  for (const ComparedRun& run : runs) trees.learn(run.tree, run.cluster);
  return run_history(history_runs(runs), selection, included, trees).series;
}

std::vector<ComparedRun> made_runs() {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.002);
  std::vector<ComparedRun> runs;
  for (int job = 1; job <= 24; ++job) {
    const bool is_new = job > 14;
    runs.push_back(
        run_at(job, (is_new ? 2.1 : 2.0) * (1 + noise(random)), is_new ? "26.02" : "25.12"));
  }
  std::swap(runs[3], runs[20]);  // their order is that of their starts, not that of the list
  return runs;
}

TEST(RunHistory, NamesChangesAndWhatChangedThere) {
  const auto runs = made_runs();
  const auto history = history_of(runs, {}, {});
  ASSERT_EQ(history.size(), 1U);
  const HistorySeries& series = history[0];
  EXPECT_EQ(series.identity.workload, "own");
  EXPECT_EQ(runs[series.runs[3]].job_id, 4);
  ASSERT_EQ(series.changes.size(), 1U);
  EXPECT_EQ(series.changes[0].at, 14U);
  EXPECT_NEAR(series.changes[0].step_time_ratio, 1.05, 0.005);
  ASSERT_EQ(series.changes[0].differences.size(), 1U);
  EXPECT_EQ(series.changes[0].differences[0].key, "release");
  EXPECT_EQ(series.changes[0].differences[0].before, "25.12");
  EXPECT_EQ(series.changes[0].differences[0].after, "26.02");
  EXPECT_EQ(series.newest, NewestLevel::steady);
}

TEST(RunHistory, NamesAChangeOfEightRuns) {
  std::vector<ComparedRun> runs;
  for (const double step_time_s : {3.93, 3.90, 3.90, 3.93, 4.22, 4.20, 4.19, 4.22}) {
    const auto job = static_cast<std::int64_t>(runs.size()) + 1;
    runs.push_back(run_at(job, step_time_s, job > 4 ? "26.02" : "25.12"));
  }
  const HistorySeries series = history_of(runs, {}, {}).at(0);
  ASSERT_EQ(series.changes.size(), 1U);
  EXPECT_EQ(series.changes[0].at, 4U);
  EXPECT_EQ(series.changes[0].differences.at(0).key, "release");
  EXPECT_EQ(series.newest, NewestLevel::unknown) << "the new level has four runs";
}

// Runs of both releases stood on the level before.
TEST(RunHistory, TellsADifferenceThatAlsoIsWithinALevelApart) {
  std::vector<ComparedRun> runs;
  const auto add = [&](double step_time_s, const char* release, const char* framework) {
    const auto job = static_cast<std::int64_t>(runs.size()) + 1;
    runs.push_back(run_at(job, step_time_s, release));
    runs.back().configuration.set("framework", framework, ConfigSource::llmb_config);
  };
  for (const char* const release : {"25.12", "25.10", "25.10", "25.12"}) add(3.9, release, "a");
  for (int i = 0; i < 4; ++i) add(4.2, "25.10", "b");
  const HistorySeries series = history_of(runs, {}, {}).at(0);
  ASSERT_EQ(series.changes.size(), 1U);
  const auto& differences = series.changes[0].differences;
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].key, "framework");
  EXPECT_TRUE(differences[0].parts_levels);
  EXPECT_EQ(differences[1].key, "release");
  EXPECT_FALSE(differences[1].parts_levels);
}

TEST(RunHistory, KeepsScalesApartAndLeavesOutWhatIsMarked) {
  auto runs = made_runs();
  runs[0].configuration.set("gpu_count", "128", ConfigSource::llmb_config);
  runs[1].judgement.summary.status = RunStatus::failed;
  const auto history = history_of(runs, {}, {});
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].runs.size(), 22U);
  EXPECT_EQ(history[1].identity.gpu_count, 128);
  EXPECT_EQ(history[1].runs.size(), 1U);
  EXPECT_EQ(history[1].newest, NewestLevel::unknown);
  RunSelection selection;
  selection.gpu_count = 64;
  EXPECT_EQ(history_of(runs, selection, {RunMark::failed})[0].runs.size(), 23U);
  selection.workload = "other";
  EXPECT_TRUE(history_of(runs, selection, {}).empty());
}

// Each run that was given stands somewhere.
TEST(RunHistory, SaysWhyARunIsLeftOut) {
  auto runs = made_runs();
  runs[1].judgement.summary.status = RunStatus::failed;
  runs[2].judgement.summary.step_time_s.reset();
  runs[3].judgement.summary.step_time_s.reset();  // rates only
  runs[3].judgement.summary.printed_tokens_per_s_per_gpu = 5'000;
  runs[4].judgement.summary.status = RunStatus::incomplete;
  runs[4].configuration.set("gpu_count", "8", ConfigSource::llmb_config);
  const HistoryRuns given = history_runs(runs);
  const RunHistory history = run_history(given, {}, {}, {});
  ASSERT_EQ(history.series.size(), 1U);
  EXPECT_EQ(history.series[0].runs.size(), 20U);
  const auto& left_out = history.series[0].left_out;
  ASSERT_EQ(left_out.size(), 3U);
  EXPECT_EQ(left_out[0].run, 1U);
  EXPECT_THAT(left_out[0].reason, StartsWith("failed: "));
  EXPECT_EQ(left_out[1].run, 2U);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(left_out[i].reason, "No step in the window 11-44 has a step time.");
  }
  ASSERT_EQ(history.unplaced.size(), 1U);
  EXPECT_EQ(history.unplaced[0].run, 4U);
  EXPECT_THAT(history.unplaced[0].reason, StartsWith("incomplete: "));
  RunSelection selection;
  selection.gpu_count = 64;
  EXPECT_TRUE(run_history(given, selection, {}, {}).unplaced.empty());
  EXPECT_EQ(run_history(given, selection, {RunMark::failed}, {}).series[0].left_out.size(), 2U);
}

TEST(RunHistory, NamesTheWindowsOfOtherSeriesOfAConfiguration) {
  auto runs = made_runs();
  for (std::size_t i = 20; i < 24; ++i) runs[i].judgement.summary.window = {35, 44};
  const auto history = history_of(runs, {}, {});
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].other_windows, std::vector<std::string>{history[1].window});
  EXPECT_EQ(history[1].other_windows, std::vector<std::string>{history[0].window});
  EXPECT_NE(history[0].window, history[1].window);
  EXPECT_TRUE(history_of(made_runs(), {}, {})[0].other_windows.empty());
}

TEST(RunHistory, LogsWithTheSameBytesAreOneRun) {
  auto runs = made_runs();
  for (std::size_t i = 0; i < 4; ++i) runs.push_back(runs[5]);
  for (std::size_t i : {5U, 24U, 26U}) runs[i].content_key.by_bytes = "one log";
  runs[25].judgement.summary.status = RunStatus::failed;
  const auto history = history_of(runs, {}, {});
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0].runs.size(), 25U) << "the last one's content is not known";
  ASSERT_EQ(history[0].copies.size(), 2U);
  EXPECT_EQ(history[0].copies[0].run, 24U);
  EXPECT_EQ(history[0].copies[1].run, 26U);
  EXPECT_EQ(history[0].copies[1].copy_of, 5U);
}

// Their names differ in the layout only, by which the recipes tell the GPU.
TEST(RunHistory, KeepsGpusApartThatTheRecipesTell) {
  const Catalog& catalog = embedded_catalog();
  std::vector<ComparedRun> runs;
  for (int job = 1; job <= 8; ++job) {
    ComparedRun run = run_at(job, job > 4 ? 13.4 : 5.2, "25.05");
    run.configuration = parse_experiment_name(
        job > 4 ? "pretrain_grok1_314b_fp8_512_tp4_pp8_cp2_vp8_ep8_etp1_mbs1_gbs1024"
                : "pretrain_grok1_314b_fp8_512_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs1024");
    run.judgement.match = match_recipe(catalog, {run.configuration, run.dialect, std::nullopt});
    runs.push_back(std::move(run));
  }
  const auto history = history_of(runs, {}, {});
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].identity.gpu_type, "gb200");
  EXPECT_EQ(history[1].identity.gpu_type, "h100");
  EXPECT_EQ(history[1].runs.size(), 4U);
  EXPECT_TRUE(history[0].changes.empty());
}

TEST(RunHistory, KeepsClustersApart) {
  auto runs = made_runs();
  for (auto& run : runs) run.cluster = "eos";
  runs[5].cluster = std::nullopt;  // of the only one that its tree names
  const auto of_one_tree = history_of(runs, {}, {});
  ASSERT_EQ(of_one_tree.size(), 1U);
  EXPECT_EQ(of_one_tree[0].cluster, "eos");
  EXPECT_EQ(of_one_tree[0].runs.size(), runs.size());
  runs[5].tree = 2;  // which names none
  const auto with_unnamed = history_of(runs, {}, {});
  ASSERT_EQ(with_unnamed.size(), 2U);
  EXPECT_EQ(with_unnamed[0].cluster, "");
  EXPECT_THAT(with_unnamed[0].runs, ElementsAre(5U));
  EXPECT_EQ(with_unnamed[1].cluster, "eos");
  // In turn on two clusters of another speed each: no change of either.
  runs.clear();
  for (int job = 1; job <= 24; ++job) {
    runs.push_back(run_at(job, job > 12 ? 2.2 : 2.0, "25.12"));
    runs.back().cluster = job > 12 ? "selene" : "eos";
  }
  const auto history = history_of(runs, {}, {});
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].cluster, "eos");
  EXPECT_EQ(history[1].cluster, "selene");
  EXPECT_EQ(history[1].runs.size(), 12U);
  EXPECT_TRUE(history[0].changes.empty() && history[1].changes.empty());
}

std::vector<ComparedRun> creeping_runs(int count, double ratio_per_run, int steady = 0) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.0007);
  std::vector<ComparedRun> runs;
  for (int job = 1; job <= count; ++job) {
    const double level = 5 * std::pow(ratio_per_run, std::max(0, job - 1 - steady));
    runs.push_back(run_at(job, level * (1 + noise(random)), "25.12"));
  }
  return runs;
}

TEST(RunHistory, TellsALevelThatDrifts) {
  for (const auto& [count, ratio] :
       {std::pair{20, 1.01}, std::pair{12, 1.02}, std::pair{40, 1.003}, std::pair{14, 1.0015}}) {
    const HistorySeries series = history_of(creeping_runs(count, ratio), {}, {}).at(0);
    EXPECT_EQ(series.newest, NewestLevel::drifting) << ratio;
    EXPECT_TRUE(series.changes.empty()) << ratio;
    ASSERT_TRUE(series.drift) << ratio;
    EXPECT_EQ(series.drift->from, 0U);
    EXPECT_EQ(series.drift->to, series.runs.size() - 1);
    EXPECT_TRUE(series.drift->goes_on);
    EXPECT_NEAR(series.drift->before_s, 5, 0.01);
    EXPECT_NEAR(series.drift->step_time_ratio, std::pow(ratio, count - 1), 0.003);
    EXPECT_NEAR(series.drift->step_time_ratio_per_run, ratio, 2e-4);
  }
}

TEST(RunHistory, TellsSinceWhenALevelDrifts) {
  const HistorySeries series = history_of(creeping_runs(30, 1.01, 15), {}, {}).at(0);
  ASSERT_TRUE(series.drift);
  EXPECT_NEAR(static_cast<double>(series.drift->from), 15, 1);
  EXPECT_NEAR(series.drift->step_time_ratio, std::pow(1.01, 14), 0.005);
  EXPECT_EQ(series.newest, NewestLevel::drifting);
}

TEST(RunHistory, HoldsTheNewestRunsAgainstTheLineOfADrift) {
  auto runs = creeping_runs(20, 1.003);
  for (std::size_t i : {18U, 19U}) {
    runs[i] = run_at(runs[i].id, 1.1 * runs[i].judgement.summary.step_time_s->median, "25.12");
  }
  EXPECT_EQ(history_of(runs, {}, {}).at(0).newest, NewestLevel::higher);
}

TEST(RunHistory, TellsAChangeAheadOfADriftByWhereThatBegins) {
  auto runs = creeping_runs(40, 1.005, 20);
  for (std::size_t i = 0; i < 20; ++i) {
    runs[i] = run_at(runs[i].id, 1.5 * runs[i].judgement.summary.step_time_s->median, "25.12");
  }
  const HistorySeries series = history_of(runs, {}, {}).at(0);
  ASSERT_EQ(series.changes.size(), 1U);
  EXPECT_NEAR(series.changes[0].step_time_ratio, 1 / 1.5, 0.005);
  ASSERT_TRUE(series.drift);
  EXPECT_NEAR(series.drift->step_time_ratio, std::pow(1.005, 19), 0.01);
}

// Every fourth step takes 1.35 times as long: the median does not show it.
TEST(RunHistory, TellsSlowStepsByMeans) {
  const auto history_with_slow = [](std::size_t first_slow, std::size_t count) {
    std::vector<ComparedRun> runs = creeping_runs(static_cast<int>(count), 1);
    for (std::size_t i = first_slow; i < count; ++i) {
      runs[i].judgement.summary.step_time_s->mean *= 1.09;
      runs[i].configuration.set("release", "26.02", ConfigSource::llmb_config);
    }
    return history_of(runs, {}, {}).at(0);
  };
  const HistorySeries changed = history_with_slow(6, 12);
  EXPECT_TRUE(changed.changes.empty());
  EXPECT_EQ(changed.newest, NewestLevel::steady);
  ASSERT_EQ(changed.mean_changes.size(), 1U);
  EXPECT_EQ(changed.mean_changes[0].at, 6U);
  EXPECT_NEAR(changed.mean_changes[0].ratio(), 1.09, 1e-6);
  EXPECT_NEAR(changed.mean_changes[0].mean_after_s, 5.45, 0.01);
  ASSERT_EQ(changed.mean_changes[0].differences.size(), 1U);
  const HistorySeries steady = history_with_slow(12, 12);
  EXPECT_TRUE(steady.mean_changes.empty());
  EXPECT_EQ(steady.newest_means, NewestLevel::steady);
}

// Of eight runs, six by 0.6 %, six by 9 %.
TEST(RunHistory, TakesNoSmallChangeOfMeansForABorder) {
  const auto history_of_first = [](std::size_t count) {
    std::vector<ComparedRun> runs = creeping_runs(static_cast<int>(count), 1);
    for (std::size_t i = 8; i < count; ++i) {
      runs[i].judgement.summary.step_time_s->mean *= i < 14 ? 1.006 : 1.09;
    }
    return history_of(runs, {}, {}).at(0);
  };
  const HistorySeries series = history_of_first(20);
  ASSERT_EQ(series.mean_changes.size(), 1U);
  EXPECT_EQ(series.mean_changes[0].at, 14U);
  EXPECT_NEAR(series.mean_changes[0].mean_to_median_before, 1, 1e-6);
  EXPECT_EQ(series.newest_means, NewestLevel::unknown);
  const HistorySeries small = history_of_first(12);
  EXPECT_TRUE(small.mean_changes.empty());
  EXPECT_EQ(small.newest_means, NewestLevel::steady);
}

// Where slow steps come and go, two runs are no level yet.
TEST(RunHistory, TellsTheNewestRunsByMeans) {
  std::vector<ComparedRun> runs = creeping_runs(14, 1);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double odd = i == 3 || i == 8 ? 0.1 : 0.004 * static_cast<double>(i % 3);
    runs[i].judgement.summary.step_time_s->mean *= 1 + (i < 12 ? odd : 0.04);
  }
  const HistorySeries series = history_of(runs, {}, {}).at(0);
  EXPECT_TRUE(series.mean_changes.empty());
  EXPECT_EQ(series.newest_means, NewestLevel::higher);
  EXPECT_EQ(series.newest, NewestLevel::steady);
}

TEST(RunHistory, TakesOneDigitOfPrintedStepTimesForRounding) {
  const auto history_with_newest = [](double step_time_s) {
    std::vector<ComparedRun> runs;
    for (int job = 1; job <= 10; ++job) {
      runs.push_back(run_at(job, job <= 8 ? 7.38 : step_time_s, "25.12"));
    }
    return history_of(runs, {}, {}).at(0);
  };
  const HistorySeries by_one_digit = history_with_newest(7.39);
  EXPECT_TRUE(by_one_digit.changes.empty());
  EXPECT_EQ(by_one_digit.newest, NewestLevel::steady);
  const HistorySeries by_one_of_a_thousand = history_with_newest(7.387);  // three decimals show
  EXPECT_EQ(by_one_of_a_thousand.changes.size(), 1U);
}

}  // namespace
}  // namespace llmb::parser
