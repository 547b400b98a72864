// One log, judged: recipe, window, summary and metrics belong together.
#include "parser/statistics/judge_run.h"

#include <gtest/gtest.h>

#include <vector>

#include "parser/layout/experiment_name.h"

namespace llmb::parser {
namespace {

// Nemotron-4 15B on 16 GPUs: the 25.04 document measures the last step.
constexpr const char* kJudgedExperiment =
    "pretrain_nemotron4_15b_bf16_gpus16_tp2_pp1_cp1_vpNone_mbs2_gbs64";

struct JudgedLog {
  explicit JudgedLog(std::int64_t step_count, std::int64_t global_batch_size = 64)
      : configuration(parse_experiment_name(kJudgedExperiment)) {
    facts.dialect = Dialect::nemo;
    facts.declared_last_iteration = 49;
    facts.segments.push_back({0, step_count - 1, step_count, 0, std::nullopt, 0, 0});
    for (std::int64_t i = 0; i < step_count; ++i) {
      StepSample sample;
      sample.iteration = i;
      sample.step_time_s = i == 49 ? 3.0 : 2.0;
      sample.global_batch_size = global_batch_size;
      samples.push_back(sample);
    }
    configuration.set("gpu_type", "h100", ConfigSource::llmb_config);
  }

  RunToJudge to_judge() {
    return {
        .facts = facts, .configuration = configuration, .samples = [this](const Window& window) {
          windows_asked.push_back(window);
          return std::span<const StepSample>(samples);
        }};
  }

  LogFacts facts;
  RunConfiguration configuration;
  std::vector<StepSample> samples;
  std::vector<Window> windows_asked;
};

TEST(JudgeRun, FindsRecipeWindowSummaryAndMetrics) {
  JudgedLog log(50);
  const Judgement judgement =
      judge_run(embedded_catalog(), log.to_judge(), {{}, kTokensToTrainDefault});
  EXPECT_EQ(judgement.logged_global_batch_size, 64);
  ASSERT_NE(judgement.match.recipe, nullptr) << judgement.match.reason;
  EXPECT_EQ(judgement.window_source, "nemotron4-25.04");
  EXPECT_EQ(judgement.summary.window, (Window{49, 49}));
  EXPECT_EQ(judgement.summary.status, RunStatus::complete) << judgement.summary.status_reason;
  EXPECT_EQ(judgement.summary.step_time_s.value().mean, 3.0);
  // 64 sequences of 4096 tokens in 3 s on 16 GPUs.
  EXPECT_DOUBLE_EQ(judgement.metrics.derived.tokens_per_s_per_gpu.value.value(),
                   64 * 4096 / 3.0 / 16);
  EXPECT_EQ(judgement.metrics.tokens_to_train, kTokensToTrainDefault);
}

TEST(JudgeRun, TakesTheWindowThatWasAskedFor) {
  JudgedLog log(50);
  const Judgement judgement =
      judge_run(embedded_catalog(), log.to_judge(), {.window = AskedWindow{Window{11, 44}}});
  EXPECT_EQ(judgement.window_source, "asked for");
  EXPECT_EQ(judgement.summary.window, (Window{11, 44}));
  EXPECT_EQ(judgement.summary.step_time_s.value().mean, 2.0);
  EXPECT_EQ(judgement.metrics.tokens_to_train, 0) << "nobody asked for metrics";
  EXPECT_FALSE(judgement.metrics.derived.tokens_per_s.value);
}

TEST(JudgeRun, LetsTheLoggedBatchDecideTheRecipe) {
  JudgedLog log(50, 32);
  const Judgement other = judge_run(embedded_catalog(), log.to_judge(), {});
  EXPECT_EQ(other.logged_global_batch_size, 32);
  EXPECT_EQ(other.match.recipe, nullptr) << "the table's batch is 64";

  RunToJudge told = log.to_judge();
  told.logged_batch = LoggedBatch{64};
  EXPECT_NE(judge_run(embedded_catalog(), told, {}).match.recipe, nullptr);
}

TEST(JudgeRun, AsksForNoSampleWhereTheSummaryIsKnown) {
  JudgedLog log(50);
  const Judgement first = judge_run(embedded_catalog(), log.to_judge(), {});
  log.windows_asked.clear();
  RunToJudge known = log.to_judge();
  known.logged_batch = LoggedBatch{first.logged_global_batch_size};
  known.known_summary = &first.summary;
  EXPECT_EQ(judge_run(embedded_catalog(), known, {}).summary, first.summary);
  EXPECT_TRUE(log.windows_asked.empty());
  judge_run(embedded_catalog(), known, {.window = AskedWindow{Window{11, 44}}});
  EXPECT_EQ(log.windows_asked, std::vector{(Window{11, 44})}) << "another window is looked at";
}

TEST(JudgeRun, TellsARunningLogFromAHungOne) {
  JudgedLog log(30);
  RunToJudge running = log.to_judge();
  running.may_still_grow = true;
  EXPECT_EQ(judge_run(embedded_catalog(), running, {}).summary.failure_cause, "");
  running.silence = Silence{600, 2};
  const Judgement hung = judge_run(embedded_catalog(), running, {});
  EXPECT_EQ(hung.summary.status, RunStatus::running);
  EXPECT_EQ(hung.summary.failure_cause, "hung");
}

}  // namespace
}  // namespace llmb::parser
