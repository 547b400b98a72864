// RunComparison: runs side by side. Repeats of one configuration form a group; each group's means
// are those of its runs, and every group is tested against the first one, on run means and never
// on iterations.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/statistics/judge_run.h"
#include "parser/statistics/mean_comparison.h"
#include "parser/statistics/run_marks.h"

namespace llmb::parser {

enum class ComparedMetric { step_time_s, tokens_per_s_per_gpu, tflops_per_gpu };
inline constexpr std::array kComparedMetrics = {ComparedMetric::step_time_s,
                                                ComparedMetric::tokens_per_s_per_gpu,
                                                ComparedMetric::tflops_per_gpu};
std::string_view compared_metric_name(ComparedMetric metric);

// What a comparison needs of a run.
struct ComparedRun {
  std::int64_t id = 0;  // the caller's
  std::string experiment;
  std::optional<std::int64_t> job_id;
  std::string path;
  RunConfiguration configuration;
  Dialect dialect = Dialect::unknown;
  bool has_profiles = false;
  bool nccl_trace_seen = false;
  bool is_superseded = false;
  Judgement judgement;  // over the window of the comparison, with metrics
  Judgement published;  // over the window of the recipe's document: for the reference alone
};

// By the catalog's names where it knows the model; empty where the run does not say.
std::string workload_of(const ComparedRun& run);
std::string model_size_of(const ComparedRun& run);
// As the run says, or as all recipes do that may be its own.
std::optional<std::int64_t> global_batch_size_of(const ComparedRun& run);
std::vector<RunMarkReason> marks_of(const ComparedRun& run);

// What compare_runs() takes for one configuration: its best values by key, with dialect, window,
// batch and marks; without what tells one launch from another.
using Characteristics = std::map<std::string, std::string, std::less<>>;
Characteristics characteristics_of(const ComparedRun& run, const std::vector<RunMarkReason>& marks);

struct RunStanding {
  std::vector<RunMarkReason> marks;
  std::string exclusion;             // why it is left out; empty where it is in
  std::optional<std::size_t> group;  // nothing where it is left out
};

struct GroupMetric {
  ComparedMetric metric = ComparedMetric::step_time_s;
  std::optional<MeanEstimate> estimate;
  std::string reason;  // why there is none, or no interval; empty where both are there
};

struct ComparedGroup {
  std::vector<std::size_t> runs;     // indexes into the runs given
  std::vector<GroupMetric> metrics;  // in the order of kComparedMetrics
  // Of the runs' speed_against_reference; nothing where no published result is theirs.
  std::optional<MeanEstimate> speed_against_reference;
};

// One key of the configuration (or dialect, window, marks) in which the groups differ.
struct ConfigurationDifference {
  std::string key;
  std::vector<std::optional<std::string>> values;  // by group; nothing: not stated
};

// Why two groups, or one metric of them, cannot be compared.
struct Obstacle {
  std::string code;  // "different_workload"
  std::string text;
  std::vector<ComparedMetric> metrics;  // that it bars
};

enum class ComparisonVerdict {
  faster,
  slower,
  no_difference_shown,  // tested; run-to-run noise explains it
  cannot_be_told,       // not testable: too few runs, or no value
  not_comparable,       // an obstacle
};
std::string_view comparison_verdict_name(ComparisonVerdict verdict);

struct MetricComparison {
  ComparedMetric metric = ComparedMetric::step_time_s;
  ComparisonVerdict verdict = ComparisonVerdict::cannot_be_told;
  std::optional<MeanTest> test;            // nothing where an obstacle bars it, or values lack
  std::optional<double> p_value_adjusted;  // Holm, over the groups tested for this metric
  std::string text;                        // the verdict as a sentence
};

struct GroupComparison {
  std::size_t group = 0;  // against the baseline, which is group 0
  std::vector<Obstacle> obstacles;
  std::vector<MetricComparison> metrics;  // in the order of kComparedMetrics
};

struct RunComparison {
  std::vector<RunStanding> runs;  // as given
  std::vector<ComparedGroup> groups;
  std::vector<ConfigurationDifference> differences;
  std::vector<GroupComparison> comparisons;  // one for each group but the first
};

// What every answer says of the method.
inline constexpr std::string_view kComparisonMethod =
    "One value is the mean of one run over its window. Groups are runs of one configuration; "
    "intervals are 95 % by Student's t on run means, tests are Welch's on run means, never on "
    "iterations, which are not independent: on iterations, runs of the same configuration would "
    "often be called different. p-values are adjusted (Holm) for the number of groups tested.";

RunComparison compare_runs(const std::vector<ComparedRun>& runs, const RunMarkSet& included);

// Of one group of runs each; empty where nothing stands in the way.
std::vector<Obstacle> obstacles_between(const ComparedRun& baseline, const ComparedRun& other);

}  // namespace llmb::parser
