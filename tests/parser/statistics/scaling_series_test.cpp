// Runs of real recipes of the catalog, with step times made for the purpose.
#include "parser/statistics/scaling_series.h"

#include <gmock/gmock.h>

#include <set>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Of the table of grok1-25.05: the global batch is twice the number of GPUs.
std::string grok(int gpu_count, int global_batch_size, const std::string& dtype = "bf16") {
  return "pretrain_grok1_314b_" + dtype + "_gpus" + std::to_string(gpu_count) +
         "_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs" + std::to_string(global_batch_size);
}

ComparedRun scaled_run(const std::string& experiment, double step_time_s, Window window = {11, 44},
                       RunStatus status = RunStatus::complete) {
  ComparedRun run;
  run.experiment = experiment;
  run.configuration = parse_experiment_name(experiment);
  run.configuration.set("gpu_type", "gb200", ConfigSource::llmb_config);
  run.configuration.set("sequence_length", "8192", ConfigSource::llmb_config);
  run.dialect = Dialect::nemo;
  RunSummary summary;
  summary.status = status;
  summary.status_reason = "as the test wants it";
  summary.window = window;
  summary.step_time_s = {34, step_time_s, 0.01, 0.01, step_time_s, 1, 9, 9};
  const Catalog& catalog = embedded_catalog();
  const RunEvidence evidence{run.configuration, run.dialect, std::nullopt};
  const RecipeMatch match = match_recipe(catalog, evidence);
  run.judgement = {match, std::nullopt, "test", summary,
                   measure_run(catalog, evidence, match, summary, kTokensToTrainDefault)};
  run.published = run.judgement;
  return run;
}

TreeClusters trees_of(const std::vector<ComparedRun>& runs) {
  TreeClusters trees;
  for (const ComparedRun& run : runs) trees.learn(run.tree, run.cluster);
  return trees;
}

ScalingReport scale(const std::vector<ComparedRun>& runs, const RunSelection& selection = {},
                    const RunMarkSet& included = {}) {
  return scaling_series(embedded_catalog(), scaling_runs(runs), selection, included,
                        trees_of(runs));
}

TEST(ScalingSeries, SetsEachScaleAgainstTheSmallest) {
  const auto report = scale({scaled_run(grok(512, 1024), 8.0), scaled_run(grok(128, 256), 7.2),
                             scaled_run(grok(128, 256), 7.4), scaled_run(grok(256, 512), 7.5)});
  ASSERT_EQ(report.series.size(), 1U);
  const ScalingSeries& series = report.series[0];
  EXPECT_EQ(series.workload, "pretrain_grok1");
  EXPECT_EQ(series.dtype, "bf16");
  EXPECT_EQ(series.gpu_type, "gb200");
  EXPECT_EQ(series.kind, ScalingKind::weak);
  ASSERT_EQ(series.points.size(), 3U);
  // 8192 tokens * 256 sequences / 128 GPUs = 16384 tokens a step and GPU, at every scale.
  const double smallest = (16384 / 7.2 + 16384 / 7.4) / 2;
  EXPECT_THAT(series.points[0].runs, ElementsAre(1U, 2U));
  EXPECT_NEAR(series.points[0].tokens_per_s_per_gpu.mean, smallest, 1e-6);
  EXPECT_EQ(series.points[0].tokens_per_s_per_gpu.run_count, 2);
  EXPECT_EQ(series.points[0].kind, ScalingKind::baseline);
  EXPECT_NEAR(*series.points[0].efficiency, 1, 1e-12);
  EXPECT_EQ(series.points[1].kind, ScalingKind::weak);
  EXPECT_NEAR(*series.points[1].efficiency, 16384 / 7.5 / smallest, 1e-9);
  EXPECT_NEAR(*series.points[2].efficiency, 16384 / 8.0 / smallest, 1e-9);
  EXPECT_FALSE(series.points[2].tokens_per_s_per_gpu.low) << "one run has no interval";
}

TEST(ScalingSeries, StandsBesideThePublishedOne) {
  const auto report = scale({scaled_run(grok(256, 512), 7.5)});
  const ScalingSeries& series = report.series.at(0);
  EXPECT_EQ(series.kind, ScalingKind::baseline);
  EXPECT_EQ(series.document->id, "grok1-25.05");
  ASSERT_EQ(series.published.size(), 3U);
  // Line 82 of the document: 7.325, 7.39 and 7.324 s. The throughput printed for 512 GPUs is half
  // of what follows from its step time, and is not used.
  EXPECT_NEAR(series.published[0].tokens_per_s_per_gpu, 16384 / 7.325, 1e-6);
  EXPECT_NEAR(series.published[2].tokens_per_s_per_gpu, 16384 / 7.324, 1e-6);
  EXPECT_NEAR(series.published[1].efficiency, 7.325 / 7.39, 1e-9);
  EXPECT_EQ(series.published[2].kind, ScalingKind::weak);
  EXPECT_NEAR(series.points[0].speed_against_reference->mean, 7.39 / 7.5, 1e-9);
}

TEST(ScalingSeries, SaysThatRunsOfOnePointHaveSeveralPublishedResults) {
  std::vector<ComparedRun> runs = {scaled_run(grok(256, 512), 7.5),
                                   scaled_run(grok(256, 512), 7.4)};
  ASSERT_TRUE(runs[0].published.metrics.reference);
  const ScalingPoint same = scale(runs).series.at(0).points.at(0);
  EXPECT_TRUE(same.published_standing);
  EXPECT_EQ(same.speed_against_reference->run_count, 2);
  EXPECT_EQ(same.published_reason, "");
  const auto& references = embedded_catalog().references;
  const bool is_first = runs[0].published.metrics.reference == &references.front();
  runs[1].published.metrics.reference = is_first ? &references.back() : &references.front();
  const ScalingPoint other = scale(runs).series.at(0).points.at(0);
  EXPECT_FALSE(other.published_standing);
  EXPECT_FALSE(other.speed_against_reference);
  EXPECT_THAT(other.published_reason, HasSubstr("The runs have different published results: "));
}

TEST(ScalingSeries, NamesStrongAndMixedScaling) {
  // No recipes of the catalog: what the runs say is enough for tokens/s/GPU.
  const auto strong = scale({scaled_run(grok(128, 512), 14.0), scaled_run(grok(256, 512), 7.5)});
  ASSERT_EQ(strong.series.size(), 1U);
  ASSERT_EQ(strong.series[0].points.size(), 2U);
  EXPECT_EQ(strong.series[0].kind, ScalingKind::strong);
  EXPECT_NEAR(*strong.series[0].points[1].efficiency, 14.0 / (2 * 7.5), 1e-9);
  const auto mixed = scale({scaled_run(grok(128, 256), 7.2), scaled_run(grok(256, 512), 7.5),
                            scaled_run(grok(512, 256), 2.1)});
  EXPECT_EQ(mixed.series.at(0).kind, ScalingKind::mixed);
  EXPECT_EQ(mixed.series[0].points.at(2).kind, ScalingKind::strong);
}

TEST(ScalingSeries, LogsWithTheSameBytesAreOneRun) {
  // A copy in a folder that names another scale, and one beside whose original profiles lie.
  std::vector<ComparedRun> runs = {make_run(grok(128, 256), 7.2), make_run(grok(128, 256), 7.2),
                                   make_run(grok(256, 512), 7.2), make_run(grok(128, 256), 7.3),
                                   make_run(grok(128, 256), 7.3)};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].id = static_cast<std::int64_t>(i) + 10;
    runs[i].content_key.by_bytes = i < 3 ? "one log" : "another";
  }
  runs[3].has_profiles = true;
  const auto report = scale(runs);
  ASSERT_EQ(report.series.size(), 1U);
  ASSERT_EQ(report.series[0].points.size(), 1U);
  EXPECT_THAT(report.series[0].points[0].runs, ElementsAre(0U, 4U));
  ASSERT_EQ(report.series[0].left_out.size(), 3U);
  EXPECT_EQ(report.series[0].left_out[0].copy_of, 0U);
  EXPECT_EQ(report.series[0].left_out[0].reason,
            "Its log has the same bytes as that of run 10: it is one run.");
  EXPECT_EQ(report.series[0].left_out[1].copy_of, 0U);
  EXPECT_EQ(report.series[0].left_out[2].copy_of, 4U);
  EXPECT_THAT(report.series[0].left_out[2].reason, HasSubstr("profiler slowed"));
  EXPECT_THAT(report.series[0].left_out[2].reason, HasSubstr("as that of run 14"));
}

TEST(ScalingSeries, LeavesMarkedRunsOutUnlessAsked) {
  auto traced = scaled_run(grok(128, 256), 9.0);
  traced.nccl_trace_seen = true;
  const std::vector<ComparedRun> runs = {
      traced, scaled_run(grok(256, 512), 7.5),
      scaled_run(grok(512, 1024), 7.5, {11, 44}, RunStatus::incomplete)};
  const auto clean = scale(runs);
  ASSERT_EQ(clean.series.at(0).points.size(), 1U);
  EXPECT_EQ(clean.series[0].points[0].gpu_count, 256);
  ASSERT_EQ(clean.series[0].left_out.size(), 2U);
  EXPECT_THAT(clean.series[0].left_out[0].reason, HasSubstr("NCCL trace"));
  EXPECT_THAT(clean.series[0].left_out[1].reason, HasSubstr("incomplete"));
  // What is marked is never put together with others; its marks stand beside its series.
  const auto all = scale(runs, {}, {RunMark::traced, RunMark::incomplete});
  ASSERT_EQ(all.series.size(), 3U);
  EXPECT_THAT(all.series[0].left_out, IsEmpty());
  std::set<std::string> differences;
  for (const ScalingSeries& series : all.series) {
    EXPECT_EQ(series.points.size(), 1U);
    differences.insert(differences_text(series.differences));
  }
  EXPECT_THAT(differences, ElementsAre("marks incomplete", "marks not stated", "marks traced"));
}

// grok1_h100_2024: "we are using the last training step timing"; grok1_gb200_h100: "to analyze
// iterations 11-44". Two windows, releases or environments are two series, each named by what
// differs.
TEST(ScalingSeries, NeverPoolsWhatAComparisonCallsDifferent) {
  auto other_environment = scaled_run(grok(128, 256), 7.05);
  other_environment.configuration.set("environment.NCCL_NVLS_ENABLE", "1",
                                      ConfigSource::llmb_config);
  auto other_release = scaled_run(grok(256, 512), 7.3);
  other_release.configuration.set("release", "24.11", ConfigSource::path);
  const auto report =
      scale({scaled_run(grok(128, 256), 7.2), other_environment, scaled_run(grok(256, 512), 7.5),
             other_release, scaled_run(grok(256, 512), 7.5, {20, 40})});
  ASSERT_EQ(report.series.size(), 4U);
  std::vector<std::string> names;
  for (const ScalingSeries& series : report.series) {
    names.push_back(differences_text(series.differences));
    EXPECT_EQ(series.document->id, "grok1-25.05");
    EXPECT_EQ(series.published.size(), 3U) << "published figures stay with each";
    for (const ScalingPoint& point : series.points) EXPECT_EQ(point.runs.size(), 1U);
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre(
                  "environment.NCCL_NVLS_ENABLE not stated, release not stated, window 11-44",
                  "environment.NCCL_NVLS_ENABLE 1, release not stated, window 11-44",
                  "environment.NCCL_NVLS_ENABLE not stated, release 24.11, window 11-44",
                  "environment.NCCL_NVLS_ENABLE not stated, release not stated, "
                  "window 20-40"));
}

// What one cluster has does not hang on whether others are asked for: its left-out runs and copies
// are its own, and its series differ from each other only.
TEST(ScalingSeries, AreOfOneClusterEach) {
  std::vector<ComparedRun> runs;
  for (const char* const cluster : {"beta", "alpha", ""}) {
    runs.push_back(scaled_run(grok(128, 256), 7.2));
    runs.back().content_key.by_bytes = "one log";
    runs.push_back(scaled_run(grok(128, 256), 7.2, {11, 44}, RunStatus::failed));
    if (*cluster == 0) continue;
    for (std::size_t i = runs.size() - 2; i < runs.size(); ++i) runs[i].cluster = cluster;
  }
  const auto report = scale(runs);
  ASSERT_EQ(report.series.size(), 3U);
  const auto expect = [&](std::size_t at, const std::string& cluster, std::size_t run) {
    const ScalingSeries& series = report.series[at];
    EXPECT_EQ(series.cluster, cluster);
    EXPECT_THAT(series.differences, IsEmpty());
    ASSERT_EQ(series.points.size(), 1U) << cluster;
    EXPECT_THAT(series.points[0].runs, ElementsAre(run));
    ASSERT_EQ(series.left_out.size(), 1U) << cluster;
    EXPECT_EQ(series.left_out[0].run, run + 1);
  };
  expect(0, "", 4);
  expect(1, "alpha", 2);
  expect(2, "beta", 0);
}

// Launches name their cluster from some release on only.
TEST(ScalingSeries, OfARunThatNamesNoClusterIsThatOfItsTree) {
  auto named = scaled_run(grok(128, 256), 7.2);
  named.cluster = "eos";
  auto elsewhere = scaled_run(grok(128, 256), 7.4);
  elsewhere.tree = 2;
  const auto report = scale({named, scaled_run(grok(128, 256), 7.3), elsewhere});
  ASSERT_EQ(report.series.size(), 2U);
  EXPECT_EQ(report.series[0].cluster, "");
  EXPECT_THAT(report.series[0].points.at(0).runs, ElementsAre(2U));
  EXPECT_EQ(report.series[1].cluster, "eos");
  EXPECT_THAT(report.series[1].points.at(0).runs, ElementsAre(0U, 1U));
}

TEST(ScalingSeries, KeepsLayoutsOfOneScaleApart) {
  const auto report = scale({scaled_run(grok(128, 256), 7.2),
                             scaled_run("pretrain_grok1_314b_bf16_gpus128_tp8_pp1_cp1_vp1_ep8_etp4_"
                                        "mbs1_gbs256",
                                        8.1)});
  ASSERT_EQ(report.series.size(), 1U);
  ASSERT_EQ(report.series[0].points.size(), 2U);
  EXPECT_EQ(differences_text(report.series[0].points[0].differences), "tensor_parallel 4");
  EXPECT_EQ(differences_text(report.series[0].points[1].differences), "tensor_parallel 8");
}

TEST(ScalingRun, RepeatsShareWhatTheyHaveInCommonAndOthersDoNot) {
  auto profiled = scaled_run(grok(128, 256), 7.2);
  profiled.has_profiles = true;
  auto other_job = scaled_run(grok(128, 256), 7.9);
  other_job.configuration.set("job_id", "17", ConfigSource::path);
  const std::vector<ComparedRun> runs = {scaled_run(grok(128, 256), 7.2), other_job, profiled,
                                         scaled_run(grok(256, 512), 7.2),
                                         scaled_run(grok(128, 256), 7.2, {20, 40})};
  const ScalingRuns made = scaling_runs(runs);
  EXPECT_EQ(made[0]->configuration, made[1]->configuration);
  std::set<const ScalingConfiguration*> different;
  for (const auto& run : made) different.insert(run->configuration.get());
  EXPECT_EQ(different.size(), 4U);
  EXPECT_EQ(made[0]->published.noise.configuration, made[1]->published.noise.configuration);
  EXPECT_NE(made[0]->published.noise.configuration, made[2]->published.noise.configuration);
}

// nemotron4, Load Checkpoint: "Training will run for 1 step after checkpoint has been loaded."
TEST(ScalingSeries, LeavesFunctionChecksOut) {
  auto check = scaled_run(grok(128, 256), 16.0);
  check.judgement.summary.is_function_check = true;
  const auto report = scale({check, scaled_run(grok(256, 512), 7.5)});
  ASSERT_EQ(report.series.size(), 1U);
  ASSERT_EQ(report.series[0].points.size(), 1U);
  EXPECT_EQ(report.series[0].points[0].gpu_count, 256);
  ASSERT_EQ(report.series[0].left_out.size(), 1U);
  EXPECT_EQ(report.series[0].left_out[0].marks.at(0).mark, RunMark::function_check);
}

TEST(ScalingSeries, SeparatesAndSelects) {
  const std::vector<ComparedRun> runs = {scaled_run(grok(128, 256), 7.2),
                                         scaled_run(grok(128, 256, "fp8"), 5.3),
                                         scaled_run("pretrain_grok1_314b_fp8", 5.3)};
  const auto all = scale(runs);
  EXPECT_EQ(all.series.size(), 2U);
  ASSERT_EQ(all.unplaced.size(), 1U);
  EXPECT_THAT(all.unplaced[0].reason, HasSubstr("GPU count"));
  const auto fp8 = scale(runs, {"grok1", "314b", "fp8", "gb200"});
  ASSERT_EQ(fp8.series.size(), 1U);
  EXPECT_EQ(fp8.series[0].dtype, "fp8");
  EXPECT_THAT(scale(runs, {"pretrain_nemotron4", {}, {}, {}}).series, IsEmpty());
  EXPECT_THAT(scale(runs, {{}, {}, {}, "h100"}).series, IsEmpty());
}

}  // namespace
}  // namespace llmb::parser
