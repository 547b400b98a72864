// Runs of real recipes of the catalog, with step times made for the purpose.
#include "parser/statistics/run_comparison.h"

#include <gmock/gmock.h>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kGrokBf16 =
    "pretrain_grok1_314b_bf16_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512";
constexpr const char* kGrokFp8 =
    "pretrain_grok1_314b_fp8_gpus256_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs512";
constexpr const char* kGrokFp8Larger =
    "pretrain_grok1_314b_fp8_gpus512_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs1024";

RunSummary summary_of(double step_time_s, RunStatus status = RunStatus::complete) {
  RunSummary summary;
  summary.status = status;
  summary.status_reason = "as the test wants it";
  summary.window = {11, 44};
  if (status != RunStatus::no_data) {
    summary.step_time_s = {34, step_time_s, 0.01, 0.01, step_time_s, 1, 9, 9};
    summary.tflops_per_gpu = {34, 9000 / step_time_s, 1, 1, 1, 1, 1, 1};
  }
  return summary;
}

ComparedRun make_run(const std::string& experiment, double step_time_s,
                     RunStatus status = RunStatus::complete) {
  ComparedRun run;
  run.experiment = experiment;
  run.configuration = parse_experiment_name(experiment);
  run.configuration.set("gpu_type", "gb200", ConfigSource::llmb_config);
  run.dialect = Dialect::nemo;
  const Catalog& catalog = embedded_catalog();
  const RunEvidence evidence{run.configuration, run.dialect, std::nullopt};
  const RecipeMatch match = match_recipe(catalog, evidence);
  const RunSummary summary = summary_of(step_time_s, status);
  run.judgement = {match, std::nullopt, "test", summary,
                   measure_run(catalog, evidence, match, summary, kTokensToTrainDefault)};
  run.published = run.judgement;
  return run;
}

const MetricComparison& metric_of(const GroupComparison& comparison, ComparedMetric metric) {
  for (const MetricComparison& candidate : comparison.metrics) {
    if (candidate.metric == metric) return candidate;
  }
  return comparison.metrics.front();
}

TEST(RunComparison, GroupsRepeatsAndTestsTheirMeans) {
  const std::vector<ComparedRun> runs = {make_run(kGrokBf16, 7.38), make_run(kGrokFp8, 5.30),
                                         make_run(kGrokBf16, 7.40), make_run(kGrokFp8, 5.31),
                                         make_run(kGrokBf16, 7.42)};
  const RunComparison result = compare_runs(runs, {});
  ASSERT_EQ(result.groups.size(), 2U);
  EXPECT_EQ(result.groups[0].runs, (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(result.groups[1].runs, (std::vector<std::size_t>{1, 3}));
  EXPECT_NEAR(result.groups[0].metrics[0].estimate->mean, 7.40, 1e-9);
  EXPECT_TRUE(result.groups[0].metrics[0].estimate->low);
  ASSERT_EQ(result.differences.size(), 1U);  // the configuration that differs, and nothing else
  EXPECT_EQ(result.differences[0].key, "dtype");
  EXPECT_EQ(result.differences[0].values[1], "fp8");
  ASSERT_EQ(result.comparisons.size(), 1U);
  EXPECT_THAT(result.comparisons[0].obstacles, IsEmpty());
  const auto& step = metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  EXPECT_EQ(step.verdict, ComparisonVerdict::faster);
  EXPECT_EQ(step.test->method, MeanTestMethod::welch);
  EXPECT_THAT(step.text, HasSubstr("Welch's test on 3 and 2 run means"));
  EXPECT_EQ(metric_of(result.comparisons[0], ComparedMetric::tokens_per_s_per_gpu).verdict,
            ComparisonVerdict::faster);
  EXPECT_NEAR(result.groups[0].speed_against_reference->mean, 7.39 / 7.40, 1e-4);
}

TEST(RunComparison, CannotTellOneRunFromAnother) {
  const RunComparison result =
      compare_runs({make_run(kGrokBf16, 7.38), make_run(kGrokFp8, 5.30)}, {});
  const auto& step = metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  EXPECT_EQ(step.verdict, ComparisonVerdict::cannot_be_told);
  EXPECT_THAT(step.text, HasSubstr("-28.18 %: one run against one run: the difference cannot be "
                                   "told from run-to-run noise."));
  EXPECT_THAT(result.groups[0].metrics[0].reason, HasSubstr("no interval"));
}

TEST(RunComparison, ShowsNoDifferenceWithinTheNoise) {
  const RunComparison result = compare_runs({make_run(kGrokBf16, 7.30), make_run(kGrokBf16, 7.50),
                                             make_run(kGrokFp8, 7.35), make_run(kGrokFp8, 7.49)},
                                            {});
  const auto& step = metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  EXPECT_EQ(step.verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_THAT(step.text, HasSubstr("cannot be told from run-to-run noise"));
}

TEST(RunComparison, ComparesScalesByTokensOnly) {
  const RunComparison result =
      compare_runs({make_run(kGrokFp8, 5.3), make_run(kGrokFp8Larger, 5.4)}, {});
  const auto& comparison = result.comparisons[0];
  ASSERT_EQ(comparison.obstacles.size(), 1U);
  EXPECT_EQ(comparison.obstacles[0].code, "different_global_batch_size");
  EXPECT_EQ(metric_of(comparison, ComparedMetric::step_time_s).verdict,
            ComparisonVerdict::not_comparable);
  EXPECT_EQ(metric_of(comparison, ComparedMetric::tokens_per_s_per_gpu).verdict,
            ComparisonVerdict::cannot_be_told);
}

TEST(RunComparison, NamesWhatIsNotComparable) {
  const ComparedRun grok = make_run(kGrokFp8, 5.3);
  const ComparedRun llama =
      make_run("pretrain_llama4_e128_fp8_gpus512_tp4_pp1_cp1_vp1_ep128_etp4_mbs1_gbs1024", 3.6);
  EXPECT_EQ(obstacles_between(grok, llama)[0].code, "different_workload");
  ComparedRun other_window = make_run(kGrokFp8, 5.3);
  other_window.judgement.summary.window = {35, 44};
  const auto obstacles = obstacles_between(grok, other_window);
  ASSERT_EQ(obstacles.size(), 1U);
  EXPECT_EQ(obstacles[0].code, "different_window");
  EXPECT_THAT(obstacles[0].text, HasSubstr("11-44 and 35-44"));
  const RunComparison result = compare_runs({grok, llama}, {});
  for (const MetricComparison& metric : result.comparisons[0].metrics) {
    EXPECT_EQ(metric.verdict, ComparisonVerdict::not_comparable);
    EXPECT_THAT(metric.text, HasSubstr("pretrain_grok1 and pretrain_llama4"));
  }
}

TEST(RunComparison, LeavesOutWhatIsMarked) {
  std::vector<ComparedRun> runs(5, make_run(kGrokBf16, 7.4));
  runs[1].has_profiles = true;
  runs[2].nccl_trace_seen = true;
  runs[3] = make_run(kGrokBf16, 7.4, RunStatus::failed);
  runs[4] = make_run(kGrokBf16, 0, RunStatus::no_data);
  const RunComparison result = compare_runs(runs, {});
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(result.groups[0].runs, (std::vector<std::size_t>{0}));
  EXPECT_THAT(result.runs[1].exclusion, HasSubstr("profiler"));
  EXPECT_THAT(result.runs[2].exclusion, HasSubstr("NCCL trace"));
  EXPECT_THAT(result.runs[3].exclusion, HasSubstr("failed: as the test wants it"));
  EXPECT_FALSE(result.runs[3].group);

  const RunComparison asked = compare_runs(runs, *parse_run_marks("profiled,failed,traced"));
  EXPECT_EQ(asked.runs[1].group, 1U);  // a profiled run is no repeat of the others
  EXPECT_EQ(asked.runs[2].group, 2U);
  EXPECT_EQ(asked.runs[3].group, 0U);
  const RunComparison all = compare_runs(runs, *parse_run_marks("all"));
  EXPECT_FALSE(all.runs[4].group);  // there is nothing to include
}

TEST(RunMarks, AreReadStrictly) {
  EXPECT_THAT(*parse_run_marks(""), IsEmpty());
  EXPECT_EQ(parse_run_marks("proxy,running")->size(), 2U);
  EXPECT_THAT(parse_run_marks("slow").error().message,
              HasSubstr("profiled, traced, function_check, proxy"));
  EXPECT_FALSE(parse_run_marks("no_data"));
}

}  // namespace
}  // namespace llmb::parser
