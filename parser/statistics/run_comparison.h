// RunComparison: runs side by side. Two things that are compared are two sides; of more, repeats of
// one configuration form a group. Every side is tested against the first one, on one location a run
// and never on iterations.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/statistics/compared_run.h"
#include "parser/statistics/comparison_obstacles.h"
#include "parser/statistics/mean_comparison.h"
#include "parser/statistics/moderated_test.h"
#include "parser/statistics/noise_evidence.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/run_standing.h"

namespace llmb::parser {

struct RunStanding {
  std::vector<RunMarkReason> marks;
  std::string exclusion;             // why it is left out; empty where it is in
  std::optional<std::size_t> group;  // nothing where it is left out
  std::optional<std::size_t> side;   // nothing where there are no sides
};

struct GroupMetric {
  ComparedMetric metric = ComparedMetric::step_time_s;
  std::optional<MeanEstimate> estimate;
  std::string reason;  // why there is none, or no interval; empty where both are there
};

// A side, or the repeats of one configuration.
struct ComparedGroup {
  std::string name;                  // of a side: "base", a folder; empty where it has none
  std::optional<std::size_t> side;   // as in RunStanding
  std::vector<std::size_t> runs;     // indexes into the runs given
  std::vector<GroupMetric> metrics;  // in the order of kComparedMetrics
  // Of the runs' speed_against_reference; nothing where no one published result is that of all.
  std::optional<MeanEstimate> speed_against_reference;
  std::optional<PublishedStanding> published_standing;  // that speed against 1
  std::string published_reason;                         // why there is none; empty where there is
};

// A side of which no run counts, or is among those that are compared.
struct MissingSide {
  std::size_t side = 0;           // 0 is the one that the others would be tested against
  std::string name;               // as of a group
  std::vector<std::size_t> runs;  // indexes into the runs given; all are left out
  std::string reason;             // in a sentence, with why each of its runs is left out
};

// One key of the configuration (or dialect, window, marks) in which the groups, or the runs of one,
// differ.
struct ConfigurationDifference {
  std::string key;
  // By group; nothing: not stated. Where the runs of one side differ, their values: "bf16 | fp8",
  // "1 | (not stated)".
  std::vector<std::optional<std::string>> values;
};

enum class ComparisonVerdict {
  faster,
  slower,
  no_difference_shown,  // tested; the noise between runs explains it
  means_disagree,       // medians say one thing, and means, more than a margin apart, do not
  cannot_be_told,       // not testable: a side has no value
  not_comparable,       // an obstacle
};
std::string_view comparison_verdict_name(ComparisonVerdict verdict);

// Beyond this a difference matters; within it, two sides are called equivalent.
inline constexpr double kEquivalenceMargin = 0.01;

struct SlowSteps {
  std::int64_t count_min = 0;
  std::int64_t step_count = 0;
};

// What a test has to say, and what it could not have said.
struct MetricTest {
  ModeratedTest test;
  RunNoise noise;               // what was known before
  double p_value_adjusted = 1;  // Holm, over the groups tested for this metric
  RatioInterval interval;       // adjusted alike: it leaves 1 out where the verdict is a difference
  double mean_ratio = 1;        // of the means that are shown as results
  // The means differ otherwise than the medians do, by more than kEquivalenceMargin and outside the
  // interval: slow steps.
  bool means_differ = false;
  // Of the baseline, and of the other: of the steps in their windows, at least so many are slow.
  SlowSteps baseline_slow_steps;
  SlowSteps other_slow_steps;
  double equivalence_p_value = 1;  // Bonferroni, for the same groups
  // Within kEquivalenceMargin at kConfidence, and so are the means, and no side drifts by more.
  bool is_equivalent = false;
  double smallest_visible_difference = 0;
  std::optional<std::int64_t> more_runs;  // of each side: see more_runs_to_decide()
  std::optional<StartDrift> drift;        // where the order of the starts is known
  // Of the baseline, and of the other, where the order of their own starts is known.
  std::array<std::optional<SideDrift>, 2> side_drifts;
};

struct MetricComparison {
  ComparedMetric metric = ComparedMetric::step_time_s;
  ComparisonVerdict verdict = ComparisonVerdict::cannot_be_told;
  std::optional<MetricTest> test;  // nothing where an obstacle bars it, or values lack
  std::string text;                // the verdict as a sentence
};

struct GroupComparison {
  std::size_t group = 0;  // against the baseline, which is group 0
  std::vector<Obstacle> obstacles;
  // What is not known to be equal and was taken to be, as the sides were named: "workload".
  std::vector<std::string> assumptions;
  std::vector<MetricComparison> metrics;  // in the order of kComparedMetrics
};

struct RunComparison {
  std::vector<RunStanding> runs;  // as given
  std::vector<ComparedGroup> groups;
  std::vector<ConfigurationDifference> differences;
  std::vector<GroupComparison> comparisons;  // one for each group but the first
  std::vector<MissingSide> missing_sides;    // where the first is one, nothing is compared
};

// What every answer says of the method.
inline constexpr std::string_view kComparisonMethod =
    "A side is what was named as one, or the runs of one configuration. Means are those of runs "
    "over their windows, with 95 % intervals by Student's t. Sides are tested on one value a run, "
    "the logarithm of its median over the window, by an empirical-Bayes moderated t: the deviation "
    "between runs is that of the runs at hand, of other repeats of their configurations, and of "
    "other configurations together, which public runs stand for until there are enough of your "
    "own, and which count for less where the former deviate by more. Never on iterations, which "
    "are not independent: "
    "on iterations, runs of the same configuration would often be called different. p-values "
    "(Holm) and intervals are adjusted for the number of sides.";

struct ComparisonOptions {
  RunMarkSet included;
  // For each run the side that it is on, from 0; empty: groups by configuration.
  std::vector<std::size_t> sides;
  std::vector<std::string> side_names;
  // Other runs of the same owner, from which the noise between runs is learnt.
  std::vector<NoiseRun> noise_runs;
  // The same over their own windows, for standings: published_noise_runs().
  std::vector<NoiseRun> published_noise_runs;
};

RunComparison compare_runs(const std::vector<ComparedRun>& runs, const ComparisonOptions& options);

// Its second half: fills `result.comparisons` of groups that are there, at least one.
void test_groups(const std::vector<ComparedRun>& runs, const ComparisonOptions& options,
                 RunComparison& result);

// "run 4: incomplete: …; run 7: …", of runs that are left out. `which`: indexes into `runs`.
std::string exclusions_text(const std::vector<ComparedRun>& runs, const RunComparison& comparison,
                            std::span<const std::size_t> which);

// Why a run has no value of the metric.
std::string missing_reason(const ComparedRun& run, ComparedMetric metric);

}  // namespace llmb::parser
