// Runs of real recipes of the catalog, with step times made for the purpose.
#include "parser/statistics/run_comparison.h"

#include <gmock/gmock.h>

#include <array>

#include "parser/catalog/catalog.h"
#include "parser/layout/experiment_name.h"

namespace llmb::parser {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
    // Every step takes the same time.
    summary.step_time_s = {34,          step_time_s, 0,           0,
                           step_time_s, step_time_s, step_time_s, step_time_s};
    const double tflops = 9000 / step_time_s;
    summary.tflops_per_gpu = {34, tflops, 1, 1, tflops, 1, 1, 1};
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
  EXPECT_THAT(step.text, HasSubstr("2 runs against 3 runs, noise of public runs (0.07 %)"));
  EXPECT_LT(step.test->interval.high, 1);
  EXPECT_EQ(metric_of(result.comparisons[0], ComparedMetric::tokens_per_s_per_gpu).verdict,
            ComparisonVerdict::faster);
  EXPECT_NEAR(result.groups[0].speed_against_reference->mean, 7.39 / 7.40, 1e-4);
  EXPECT_EQ(result.groups[0].published_standing->verdict, StandingVerdict::not_decided);
}

TEST(RunComparison, OneRunAgainstOneHasAnInterval) {
  const RunComparison result =
      compare_runs({make_run(kGrokBf16, 7.38), make_run(kGrokFp8, 5.30)}, {});
  const auto& step = metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  EXPECT_EQ(step.verdict, ComparisonVerdict::faster);
  EXPECT_THAT(step.text, StartsWith("-28.18 %: faster (95 % interval -2"));
  EXPECT_THAT(result.groups[0].metrics[0].reason, HasSubstr("no interval"));
}

// Equal configurations, told apart by being named.
TEST(RunComparison, TwoThatAreNamedAreTwoSides) {
  ComparisonOptions options;
  options.sides = {1, 0};
  options.side_names = {"before", "after"};
  const std::vector<ComparedRun> equal = {make_run(kGrokBf16, 7.60), make_run(kGrokBf16, 7.38)};
  const RunComparison result = compare_runs(equal, options);
  ASSERT_EQ(result.groups.size(), 2U);
  EXPECT_EQ(result.groups[0].name, "before");
  EXPECT_EQ(result.groups[0].runs, (std::vector<std::size_t>{1}));  // in the order of the sides
  EXPECT_THAT(result.differences, IsEmpty());
  EXPECT_EQ(result.comparisons[0].metrics[0].verdict, ComparisonVerdict::slower);
  EXPECT_EQ(compare_runs(equal, {}).groups.size(), 1U);  // a group of repeats else

  ComparedRun unknown;  // of which nothing is known but its step time
  unknown.judgement.summary = summary_of(7.38);
  options.sides = {0, 1};
  const RunComparison nameless = compare_runs({unknown, unknown}, options);
  EXPECT_EQ(nameless.groups.size(), 2U);
  EXPECT_THAT(nameless.comparisons[0].obstacles, IsEmpty());
  EXPECT_EQ(nameless.comparisons[0].metrics[0].verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_THAT(nameless.comparisons[0].metrics[0].text,
              HasSubstr("the same workload and model size is taken for granted"));
  EXPECT_EQ(obstacles_between(unknown, unknown)[0].code, "unknown_workload");
}

TEST(RunComparison, ASideOfSeveralConfigurationsNamesThemAll) {
  ComparisonOptions options;
  options.sides = {0, 0, 1};
  const RunComparison result = compare_runs(
      {make_run(kGrokBf16, 7.38), make_run(kGrokFp8, 5.30), make_run(kGrokFp8, 5.31)}, options);
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].values[0], "bf16 | fp8");
  EXPECT_EQ(result.differences[0].values[1], "fp8");
}

// Told by both ends, whichever run comes first, though both sides are mixed alike.
TEST(RunComparison, ASideOfDifferentWorkIsNotCompared) {
  ComparisonOptions options;
  options.sides = {0, 0, 1, 1};
  const auto compared = [&](const std::string& a, const std::string& b) {
    std::vector<ComparedRun> runs;
    for (const std::string& experiment : {a, b, a, b}) {
      runs.push_back(make_run(experiment, experiment == kGrokFp8 ? 5.3 : 5.6));
      runs.back().id = static_cast<std::int64_t>(runs.size());
    }
    return compare_runs(runs, options);
  };
  for (const bool is_first : {true, false}) {
    const RunComparison result =
        is_first ? compared(kGrokFp8, kGrokFp8Larger) : compared(kGrokFp8Larger, kGrokFp8);
    const GroupComparison& comparison = result.comparisons[0];
    ASSERT_EQ(comparison.obstacles.size(), 1U);
    EXPECT_EQ(comparison.obstacles[0].code, "different_global_batch_size");
    EXPECT_THAT(comparison.obstacles[0].text, StartsWith("Of one side, runs 1 and 2: A step"));
    EXPECT_EQ(metric_of(comparison, ComparedMetric::step_time_s).verdict,
              ComparisonVerdict::not_comparable);
    EXPECT_EQ(result.differences[0].key, "global_batch_size");
    EXPECT_EQ(result.differences[0].values[1], "1024 | 512");
    EXPECT_FALSE(result.groups[0].published_standing);
    EXPECT_FALSE(result.groups[0].speed_against_reference);
    EXPECT_THAT(result.groups[0].published_reason, HasSubstr("different published results"));
  }
  const std::string llama =
      "pretrain_llama4_e128_fp8_gpus512_tp4_pp1_cp1_vp1_ep128_etp4_mbs1_gbs1024";
  options.sides = {0, 1, 1};
  const RunComparison mixed = compare_runs(
      {make_run(kGrokFp8, 5.3), make_run(kGrokFp8, 5.3), make_run(llama, 5.3)}, options);
  EXPECT_EQ(mixed.comparisons[0].obstacles[0].code, "different_workload");
}

TEST(RunComparison, ASideThatPartlyStatesAValueIsTold) {
  ComparisonOptions options;
  options.sides = {0, 0, 1};
  std::vector<ComparedRun> runs(3, make_run(kGrokBf16, 7.38));
  for (const std::size_t i : {1U, 2U}) {
    runs[i].configuration.set("environment.X", "1", ConfigSource::llmb_config);
  }
  const RunComparison result = compare_runs(runs, options);
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].values[0], "1 | (not stated)");
}

// The others are not held against one that was not named for that.
TEST(RunComparison, ASideOfWhichNoRunCountsIsTold) {
  ComparisonOptions options;
  options.sides = {0, 1, 2};
  options.side_names = {"base", "candidate 1", "candidate 2", "candidate 3"};
  std::vector<ComparedRun> runs(3, make_run(kGrokBf16, 7.38));
  runs[0] = make_run(kGrokBf16, 7.38, RunStatus::failed);
  runs[0].id = 6;
  const RunComparison result = compare_runs(runs, options);
  EXPECT_EQ(result.groups.size(), 2U);
  EXPECT_THAT(result.comparisons, IsEmpty());
  ASSERT_EQ(result.missing_sides.size(), 2U);
  EXPECT_EQ(result.missing_sides[0].side, 0U);
  EXPECT_EQ(result.missing_sides[0].reason,
            "No run of base counts: run 6: failed: as the test wants it.");
  EXPECT_THAT(result.missing_sides[1].reason, HasSubstr("No run of candidate 3 is among those"));
  runs[0] = runs[1];
  EXPECT_EQ(compare_runs(runs, options).comparisons.size(), 2U);
}

TEST(RunComparison, SaysWhyRunsAreLeftOutInOneSentence) {
  std::vector<ComparedRun> runs(2);
  runs[1].id = 6;
  RunComparison comparison;
  comparison.runs = {{{}, "incomplete: as told.", {}, {}}, {{}, "failed: oom", {}, {}}};
  EXPECT_EQ(exclusions_text(runs, comparison, std::vector<std::size_t>{0, 1}),
            "run 0: incomplete: as told; run 6: failed: oom");
}

TEST(RunComparison, LogsWithTheSameBytesAreOneRun) {
  std::vector<ComparedRun> runs(3, make_run(kGrokBf16, 7.38));
  runs[0].id = 7;
  runs[0].content_key.by_bytes = runs[2].content_key.by_bytes = "equal";
  const RunComparison result = compare_runs(runs, {});
  EXPECT_EQ(result.groups[0].runs, (std::vector<std::size_t>{0, 1}));
  EXPECT_THAT(result.runs[2].exclusion, HasSubstr("the same bytes as that of run 7"));
}

TEST(RunComparison, ShowsNoDifferenceWithinTheNoise) {
  const RunComparison result = compare_runs({make_run(kGrokBf16, 7.30), make_run(kGrokBf16, 7.50),
                                             make_run(kGrokFp8, 7.35), make_run(kGrokFp8, 7.49)},
                                            {});
  const auto& step = metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  EXPECT_EQ(step.verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_THAT(step.text, HasSubstr("no difference beyond the noise between runs"));
  EXPECT_THAT(step.text, HasSubstr("would have been seen"));
  EXPECT_THAT(step.text, HasSubstr("more on each side would decide"));
  EXPECT_FALSE(step.test->is_equivalent);

  const RunComparison close = compare_runs({make_run(kGrokBf16, 7.400), make_run(kGrokBf16, 7.403),
                                            make_run(kGrokFp8, 7.401), make_run(kGrokFp8, 7.404)},
                                           {});
  EXPECT_THAT(metric_of(close.comparisons[0], ComparedMetric::step_time_s).text,
              HasSubstr("They are equivalent within 1 % (two one-sided tests)."));
}

TEST(RunComparison, SaysThatMeansHoldSlowSteps) {
  std::vector<ComparedRun> runs = {make_run(kGrokBf16, 7.40), make_run(kGrokFp8, 7.40)};
  EXPECT_TRUE(metric_of(compare_runs(runs, {}).comparisons[0], ComparedMetric::step_time_s)
                  .test->is_equivalent);
  runs[1].judgement.summary.step_time_s->mean = 7.9;
  runs[1].judgement.summary.step_time_s->max = 14.8;
  const auto step_time = [&] {
    const RunComparison result = compare_runs(runs, {});
    return metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  };
  const auto step = step_time();
  EXPECT_EQ(step.verdict, ComparisonVerdict::means_disagree);
  EXPECT_THAT(step.text, StartsWith("+6.76 % by means, +0.00 % by medians: medians and means"));
  EXPECT_THAT(step.text, HasSubstr("Their medians are equivalent within 1 %"));
  EXPECT_THAT(step.text, HasSubstr("leave out: at least 3 of 34, against 0 of 34."));
  EXPECT_TRUE(step.test->means_differ);
  EXPECT_FALSE(step.test->is_equivalent);

  runs[1].judgement.summary.step_time_s->median = 7.3;  // faster, and slower by means
  EXPECT_EQ(step_time().verdict, ComparisonVerdict::means_disagree);
  EXPECT_THAT(step_time().text, StartsWith("+6.76 % by means, -1.35 % by medians: "));
  runs[1].judgement.summary.step_time_s->median = 7.5;  // slower by both
  EXPECT_EQ(step_time().verdict, ComparisonVerdict::slower);
  EXPECT_THAT(step_time().text, StartsWith("+6.76 % by means, +1.35 % by medians: slower"));
}

// A published result is of a run's own window with every step: what was asked for is not its.
TEST(RunComparison, AStandingIsTheSameWhateverIsAskedFor) {
  const ComparedRun own = make_run(kGrokBf16, 7.40);
  ComparedRun asked = own;
  asked.judgement.summary.window = {50, 50};
  asked.judgement.summary.step_time_s = compute_window_statistics(std::array{8.0});
  const auto standing_of_one = [](const ComparedRun& run) {
    return compare_runs({run}, {}).groups[0].published_standing;
  };
  ASSERT_TRUE(standing_of_one(own));
  EXPECT_EQ(standing_of_one(own)->low, standing_of_one(asked)->low);
  EXPECT_EQ(standing_of_one(own)->noise, standing_of_one(asked)->noise);
  EXPECT_EQ(published_noise_runs({asked})[0].log_location, noise_runs({own})[0].log_location);
}

TEST(RunComparison, SaysThatRunsDrift) {
  std::vector<ComparedRun> runs;
  for (int i = 0; i < 8; ++i) {
    runs.push_back(make_run(i < 4 ? kGrokBf16 : kGrokFp8, 7.4 * (1 + 0.01 * i)));
    runs.back().job_id = 100 + i;
  }
  const RunComparison result = compare_runs(runs, {});
  const auto& step = metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  ASSERT_TRUE(step.test->drift);
  EXPECT_NEAR(step.test->drift->change_per_run, 0.0097, 0.0005);
  EXPECT_THAT(step.text, HasSubstr("one side was started after the other"));
  runs[3].job_id.reset();
  EXPECT_FALSE(compare_runs(runs, {}).comparisons[0].metrics[0].test->drift);
  runs[3].job_id = 103;
  runs[3].cluster = "another";  // which counts its own jobs
  EXPECT_FALSE(compare_runs(runs, {}).comparisons[0].metrics[0].test->drift);
}

// What the user's own runs deviate by counts, once there are enough of them.
TEST(RunComparison, LearnsTheNoiseFromOtherRuns) {
  std::vector<ComparedRun> others;
  for (int group = 0; group < 4; ++group) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      others.push_back(make_run(kGrokBf16, 7.4 * (1 + 0.02 * repeat)));
      others.back().id = 100 + 3 * group + repeat;
      others.back().configuration.set("environment.GROUP", std::to_string(group),
                                      ConfigSource::llmb_config);
    }
  }
  ComparisonOptions options;
  options.noise_runs = noise_runs(others);
  std::vector<ComparedRun> pair = {make_run(kGrokBf16, 7.38), make_run(kGrokFp8, 7.15)};
  pair[0].content_key.by_bytes = "tested";
  const auto verdict = [&](const ComparisonOptions& with) {
    const RunComparison result = compare_runs(pair, with);
    return metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  };
  EXPECT_EQ(verdict({}).verdict, ComparisonVerdict::faster);
  const auto told = verdict(options);
  EXPECT_EQ(told.verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_THAT(told.text, HasSubstr("noise of runs of the same workload, GPU and scale (2 %)"));
  EXPECT_EQ(told.test->noise.run_count, 12);
  ComparisonOptions with_copies = options;
  for (NoiseRun& run : with_copies.noise_runs) run.content_key.by_bytes = "tested";
  EXPECT_EQ(verdict(with_copies).test->noise, public_run_noise());
  ComparisonOptions of_other_workload = options;
  for (NoiseRun& run : of_other_workload.noise_runs) run.workload = "pretrain_nemotron4";
  EXPECT_EQ(verdict(of_other_workload).test->noise, public_run_noise());
  ComparisonOptions of_other_gpu = options;
  for (NoiseRun& run : of_other_gpu.noise_runs) run.gpu_type = "h100";
  EXPECT_EQ(verdict(of_other_gpu).test->noise.source, "runs of the same workload");
  ComparisonOptions of_nothing_known = options;
  for (NoiseRun& run : of_nothing_known.noise_runs) run.workload.clear();
  const NoiseRun tested_of_nothing_known;
  EXPECT_EQ(noise_for(std::array{&tested_of_nothing_known}, of_nothing_known.noise_runs),
            public_run_noise());
  options.noise_runs.resize(4);  // one group and a single run: too few
  EXPECT_EQ(verdict(options).test->noise, public_run_noise());
}

// Of a published result's own window, which is a single step.
ComparedRun run_of_one_step(double step_time_s, std::optional<SteadySteps> steady) {
  ComparedRun run = make_run(kGrokBf16, step_time_s);
  RunSummary& summary = run.judgement.summary;
  summary.window = {50, 50};
  summary.step_time_s = compute_window_statistics(std::array{step_time_s});
  run.published.summary = summary;
  run.steady_steps = steady;
  return run;
}

TEST(RunComparison, ASingleStepMayBeOffByAsMuchAsStepsScatter) {
  constexpr SteadySteps kSteady = {7.38, 0.006};
  ComparisonOptions options;
  options.sides = {0, 1};
  const auto compared = [&](const ComparedRun& base, const ComparedRun& other) {
    return compare_runs({base, other}, options);
  };
  const auto step_time = [](const RunComparison& result) {
    return metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  };
  const ComparedRun base = run_of_one_step(7.38, kSteady);
  const RunComparison near = compared(base, run_of_one_step(7.46, kSteady));
  EXPECT_EQ(step_time(near).verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_THAT(step_time(near).text, HasSubstr("noise of public runs and of few steps (1.1 %)"));
  ASSERT_TRUE(near.groups[1].published_standing);
  EXPECT_EQ(near.groups[1].published_standing->verdict, StandingVerdict::not_decided);

  const RunComparison slower = compared(base, run_of_one_step(8.1, SteadySteps{8.1, 0.006}));
  EXPECT_EQ(step_time(slower).verdict, ComparisonVerdict::slower);
  EXPECT_EQ(slower.groups[1].published_standing->verdict, StandingVerdict::not_reached);
  const RunComparison one_slow_step = compared(base, run_of_one_step(8.1, kSteady));
  EXPECT_EQ(step_time(one_slow_step).verdict, ComparisonVerdict::no_difference_shown);

  const RunComparison unknown = compared(base, run_of_one_step(8.1, std::nullopt));
  EXPECT_EQ(step_time(unknown).verdict, ComparisonVerdict::no_difference_shown);
  EXPECT_EQ(step_time(unknown).test->noise.source,
            "public runs and of few steps whose scatter is not known");
}

// A configuration that was measured ten times before tells its own noise, whatever others do.
TEST(RunComparison, LearnsTheNoiseFromRepeatsOfWhatIsCompared) {
  std::vector<ComparedRun> others;
  for (int repeat = 0; repeat < 10; ++repeat) {
    others.push_back(make_run(kGrokFp8, 7.15 * (1 + 0.001 * (repeat % 2))));
    others.back().id = 100 + repeat;
    others.back().job_id = 5000 + repeat;
  }
  std::vector<ComparedRun> pair = {make_run(kGrokFp8, 7.15), make_run(kGrokFp8, 7.20)};
  pair[0].id = 1;
  pair[1].id = 2;
  ComparisonOptions options;
  options.sides = {0, 1};
  const auto verdict = [&] {
    const RunComparison result = compare_runs(pair, options);
    return metric_of(result.comparisons[0], ComparedMetric::step_time_s);
  };
  const auto alone = verdict();
  EXPECT_EQ(alone.test->noise, public_run_noise());
  others.push_back(pair[0]);  // which is tested, and teaches nothing
  options.noise_runs = noise_runs(others);
  const auto told = verdict();
  EXPECT_EQ(told.verdict, ComparisonVerdict::slower);
  EXPECT_EQ(told.test->noise.repeat_count, 10);
  EXPECT_THAT(told.text, HasSubstr("noise of 10 repeats and of public runs"));
  const auto width = [](const MetricComparison& of) {
    return of.test->interval.high / of.test->interval.low - 1;
  };
  EXPECT_LT(width(told), width(alone) / 2);
  for (NoiseRun& run : options.noise_runs) run.window = "11-20";
  EXPECT_EQ(verdict().test->noise.repeat_count, 10) << "the noise is the run's, not the window's";
  for (NoiseRun& run : options.noise_runs) ++run.configuration;
  EXPECT_EQ(verdict().test->noise.repeat_count, 0);
}

TEST(RunComparison, ComparesTimesOnlyWhereFlopFormulasMayDiffer) {
  std::vector<ComparedRun> runs = {make_run(kGrokBf16, 7.40), make_run(kGrokFp8, 7.20)};
  runs[0].configuration.set("release", "25.08", ConfigSource::llmb_config);
  runs[1].configuration.set("release", "25.12", ConfigSource::llmb_config);
  const RunComparison result = compare_runs(runs, {});
  const GroupComparison& comparison = result.comparisons[0];
  EXPECT_EQ(comparison.obstacles[0].code, "different_flops_formula");
  EXPECT_EQ(metric_of(comparison, ComparedMetric::tflops_per_gpu).verdict,
            ComparisonVerdict::not_comparable);
  EXPECT_EQ(metric_of(comparison, ComparedMetric::step_time_s).verdict, ComparisonVerdict::faster);
}

TEST(RunComparison, SaysThatAFormulaForFlopsIsNotKnown) {
  std::vector<ComparedRun> runs = {make_run(kGrokBf16, 7.40), make_run(kGrokFp8, 7.40)};
  runs[0].configuration.set("release", "25.08", ConfigSource::llmb_config);
  const auto tflops = [&](const ComparisonOptions& options) {
    const RunComparison result = compare_runs(runs, options);
    EXPECT_THAT(metric_of(result.comparisons[0], ComparedMetric::step_time_s).text,
                testing::Not(HasSubstr("FLOPs")));
    return metric_of(result.comparisons[0], ComparedMetric::tflops_per_gpu);
  };
  EXPECT_EQ(tflops({}).verdict, ComparisonVerdict::not_comparable);
  ComparisonOptions sides;
  sides.sides = {0, 1};
  EXPECT_THAT(tflops(sides).text, HasSubstr("the same formula for FLOPs is taken for granted"));
  runs[1].configuration.set("release", "25.08", ConfigSource::llmb_config);
  EXPECT_THAT(tflops(sides).text, testing::Not(HasSubstr("taken for granted")));
  EXPECT_NE(tflops({}).verdict, ComparisonVerdict::not_comparable);
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
            ComparisonVerdict::slower);
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
  std::vector<ComparedRun> runs(6, make_run(kGrokBf16, 7.4));
  runs[1].has_profiles = true;
  runs[2].nccl_trace_seen = true;
  runs[3] = make_run(kGrokBf16, 7.4, RunStatus::failed);
  runs[4] = make_run(kGrokBf16, 0, RunStatus::no_data);
  runs[5].is_superseded = true;
  const RunComparison result = compare_runs(runs, {});
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(result.groups[0].runs, (std::vector<std::size_t>{0}));
  EXPECT_THAT(result.runs[1].exclusion, HasSubstr("profiler"));
  EXPECT_THAT(result.runs[2].exclusion, HasSubstr("NCCL trace"));
  EXPECT_THAT(result.runs[3].exclusion, HasSubstr("failed: as the test wants it"));
  EXPECT_FALSE(result.runs[3].group);

  const RunComparison asked =
      compare_runs(runs, {*parse_run_marks("profiled,failed,traced,superseded"), {}, {}, {}, {}});
  EXPECT_EQ(asked.runs[1].group, 1U);  // a profiled run is no repeat of the others
  EXPECT_EQ(asked.runs[2].group, 2U);
  EXPECT_EQ(asked.runs[3].group, 3U);  // of which steps lack
  EXPECT_EQ(asked.runs[5].group, 0U);
  const RunComparison all = compare_runs(runs, {*parse_run_marks("all"), {}, {}, {}, {}});
  EXPECT_FALSE(all.runs[4].group);  // there is nothing to include
}

}  // namespace
}  // namespace llmb::parser
