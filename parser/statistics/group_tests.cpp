// The tests of a comparison: every group against the first one, metric by metric, adjusted for the
// number of groups, and each verdict as a sentence.
#include "parser/statistics/run_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "parser/foundation/signed_percent.h"

namespace llmb::parser {
namespace {

struct SideValues {
  std::vector<double> logs;
  double mean = 0;  // of the means that are shown
};

SideValues values_of(const std::vector<ComparedRun>& runs, const ComparedGroup& group,
                     ComparedMetric metric) {
  SideValues values;
  for (const std::size_t index : group.runs) {
    const auto location = log_location_of(runs[index], metric);
    if (!location) continue;
    values.logs.push_back(*location);
    values.mean += mean_of(runs[index], metric).value_or(0);
  }
  if (!values.logs.empty()) values.mean /= static_cast<double>(values.logs.size());
  return values;
}

// Of one run, over the window that is compared, by the statistics of its step times. The sum of
// what the steps are above their median is not more than that of those that are above it, each of
// which is so by as much as the longest at most.
SlowSteps slow_steps_of(const ComparedRun& run) {
  constexpr double kSlow = 1.05;  // what is nearer to the median may be scatter
  const auto& times = run.judgement.summary.step_time_s;
  if (!times) return {};
  SlowSteps slow{0, times->count};
  if (!(times->median > 0) || times->max <= kSlow * times->median) return slow;
  const double above = static_cast<double>(times->count) * (times->mean - times->median);
  const double least = std::ceil(above / (times->max - times->median));
  slow.count_min = std::max<std::int64_t>(1, static_cast<std::int64_t>(least));
  return slow;
}

SlowSteps slow_steps_of(const std::vector<ComparedRun>& runs, const ComparedGroup& group) {
  SlowSteps sum;
  for (const std::size_t index : group.runs) {
    const SlowSteps slow = slow_steps_of(runs[index]);
    sum.count_min += slow.count_min;
    sum.step_count += slow.step_count;
  }
  return sum;
}

// In the order of their starts, those of the first group as of the baseline; nothing where that
// order is not known.
std::optional<std::vector<StartedRun>> started_runs(
    const std::vector<ComparedRun>& runs, std::initializer_list<const ComparedGroup*> groups,
    ComparedMetric metric) {
  std::vector<RunStart> starts;
  std::vector<StartedRun> locations;
  for (const ComparedGroup* const group : groups) {
    for (const std::size_t index : group->runs) {
      const auto location = log_location_of(runs[index], metric);
      if (!location) continue;
      starts.push_back(start_of(runs[index]));
      locations.push_back({*location, group != *groups.begin()});
    }
  }
  const auto order = order_of(starts);
  if (!order) return std::nullopt;
  std::vector<StartedRun> ordered;
  for (const std::size_t i : *order) ordered.push_back(locations[i]);
  return ordered;
}

const Obstacle* obstacle_of(const std::vector<Obstacle>& obstacles, ComparedMetric metric) {
  for (const Obstacle& obstacle : obstacles) {
    if (std::count(obstacle.metrics.begin(), obstacle.metrics.end(), metric) > 0) return &obstacle;
  }
  return nullptr;
}

MetricComparison test_metric(const std::vector<ComparedRun>& runs, const ComparedGroup& baseline,
                             const ComparedGroup& other, ComparedMetric metric,
                             const std::vector<Obstacle>& obstacles, const RunNoise& noise) {
  MetricComparison comparison;
  comparison.metric = metric;
  if (const Obstacle* const obstacle = obstacle_of(obstacles, metric)) {
    comparison.verdict = ComparisonVerdict::not_comparable;
    comparison.text = obstacle->text;
    return comparison;
  }
  const SideValues first = values_of(runs, baseline, metric);
  const SideValues second = values_of(runs, other, metric);
  if (first.logs.empty() || second.logs.empty()) {
    const ComparedGroup& lacking = first.logs.empty() ? baseline : other;
    comparison.text = missing_reason(runs[lacking.runs.front()], metric);
    return comparison;
  }
  MetricTest result;
  result.test = moderated_test(first.logs, second.logs, noise);
  result.noise = noise;
  result.mean_ratio = second.mean / first.mean;
  result.baseline_slow_steps = slow_steps_of(runs, baseline);
  result.other_slow_steps = slow_steps_of(runs, other);
  if (const auto all = started_runs(runs, {&baseline, &other}, metric)) {
    result.drift = start_drift(*all, noise);
  }
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const ComparedGroup* const group = side == 0 ? &baseline : &other;
    if (const auto own = started_runs(runs, {group}, metric)) {
      result.side_drifts.at(side) = side_drift(*own, noise);
    }
  }
  comparison.test = result;
  return comparison;
}

std::string runs_text(std::int64_t count) {
  return count == 1 ? "1 run" : fmt::format("{} runs", count);
}

std::string p_text(double p) {
  return p < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.2g}", p);
}

bool is_faster(ComparedMetric metric, double log_ratio) {
  return (metric == ComparedMetric::step_time_s) == (log_ratio < 0);
}

// Of a share that is never negative: two digits, or all before the point: "0.07 %", "110 %".
std::string percent_text(double share) {
  const double percent = 100 * share;
  return percent < 99.5 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

// "public runs (0.07 %)"
std::string noise_text(const RunNoise& noise) {
  return fmt::format("{} ({})", noise.source, percent_text(known_variance(noise, 0, 0).stddev));
}

std::string evidence_text(const MetricTest& result) {
  return fmt::format("(95 % interval {} to {}; {} against {}, noise of {}; {})",
                     signed_percent(result.interval.low), signed_percent(result.interval.high),
                     runs_text(result.test.other_runs), runs_text(result.test.baseline_runs),
                     noise_text(result.noise), p_text(result.p_value_adjusted));
}

bool medians_are_equivalent(const MetricTest& result) {
  return result.equivalence_p_value < 1 - kConfidence;
}

// One of two sides: each is asked at half of what a false alarm may be.
bool is_shown(const std::optional<SideDrift>& drift) {
  return drift && drift->p_value < (1 - kConfidence) / 2;
}

// Then what the sides are apart hangs on when each was started.
bool has_side_that_leaves_the_margin(const MetricTest& result) {
  return std::ranges::any_of(result.side_drifts, [](const std::optional<SideDrift>& drift) {
    return is_shown(drift) && std::abs(std::log1p(drift->change)) > std::log1p(kEquivalenceMargin);
  });
}

bool means_leave_the_interval(const MetricTest& result) {
  return result.mean_ratio < result.interval.low || result.mean_ratio > result.interval.high;
}

// "slow steps, which medians leave out: at least 33 of 102, against 0 of 102"
std::string slow_steps_text(const MetricTest& result) {
  const SlowSteps& other = result.other_slow_steps;
  const SlowSteps& baseline = result.baseline_slow_steps;
  if (other.count_min == 0 && baseline.count_min == 0) return "steps that medians leave out";
  const auto text = [](const SlowSteps& slow) {
    return fmt::format("{}{} of {}", slow.count_min > 0 ? "at least " : "", slow.count_min,
                       slow.step_count);
  };
  return fmt::format("slow steps, which medians leave out: {}, against {}", text(other),
                     text(baseline));
}

// " The runs of the baseline drift by …": of the sides, where they do not drift alike or the order
// of all starts is not known; of all runs else.
std::string drift_text(const MetricTest& result) {
  const auto& [baseline, other] = result.side_drifts;
  const bool are_alike =
      is_shown(baseline) == is_shown(other) &&
      (!is_shown(baseline) || (baseline->change_per_run < 0) == (other->change_per_run < 0));
  std::string text;
  if (!are_alike || !result.drift) {
    for (const auto* const drift : {&baseline, &other}) {
      if (!is_shown(*drift)) continue;
      text += fmt::format(" The runs of {} drift by {} from one start to the next, {} in all ({}).",
                          drift == &baseline ? "the baseline" : "the other side",
                          signed_percent(1 + (*drift)->change_per_run),
                          signed_percent(1 + (*drift)->change), p_text((*drift)->p_value));
    }
    if (!text.empty() && result.drift && result.drift->is_separate) {
      text += " One side was started after the other: the difference may be the drift's.";
    }
    return text;
  }
  if (result.drift->p_value >= 1 - kConfidence) return text;
  return fmt::format(" The runs drift by {} from one start to the next ({}){}.",
                     signed_percent(1 + result.drift->change_per_run),
                     p_text(result.drift->p_value),
                     result.drift->is_separate
                         ? ", and one side was started after the other: the difference may be "
                           "the drift's"
                         : "");
}

// What a reader should know beside the verdict.
std::string remarks(const MetricTest& result, bool is_difference) {
  std::string text;
  if (!is_difference && medians_are_equivalent(result) && has_side_that_leaves_the_margin(result)) {
    text += fmt::format(
        " They are not called equivalent, for runs of a side move by more than {:.0f} %.",
        100 * kEquivalenceMargin);
  } else if (!is_difference && medians_are_equivalent(result)) {
    text += fmt::format(" {} equivalent within {:.0f} % (two one-sided tests).",
                        result.means_differ ? "Their medians are" : "They are",
                        100 * kEquivalenceMargin);
  } else if (!is_difference) {
    text += fmt::format(" A difference of {} or more would have been seen four times in five.",
                        percent_text(result.smallest_visible_difference));
    text += result.more_runs
                ? fmt::format(" {} more on each side would decide, if the means stay as they are.",
                              runs_text(*result.more_runs))
                : fmt::format(" More than {} more runs on each side would be needed to decide.",
                              kMoreRunsMax);
  }
  if (means_leave_the_interval(result)) {
    text += fmt::format(" The means hold {}.", slow_steps_text(result));
  }
  return text + drift_text(result);
}

std::string assumed(ComparedMetric metric, std::vector<std::string> assumptions) {
  if (metric != ComparedMetric::tflops_per_gpu) std::erase(assumptions, kFlopsFormulaAssumption);
  if (assumptions.empty()) return "";
  return fmt::format(" That they have the same {} is taken for granted: a log does not say.",
                     fmt::join(assumptions, " and "));
}

// The means are what is shown as results, and what published speeds are held against.
bool do_means_disagree(const MetricTest& result, bool is_difference) {
  const bool is_other_way = (std::log(result.mean_ratio) < 0) != (result.test.log_ratio < 0);
  return result.means_differ && (is_other_way || !is_difference);
}

void conclude(MetricComparison& comparison, const std::vector<std::string>& assumptions) {
  const MetricTest& result = *comparison.test;
  const std::string amount = signed_percent(std::exp(result.test.log_ratio));
  const bool is_difference = result.p_value_adjusted < 1 - kConfidence;
  std::string words = "no difference beyond the noise between runs";
  comparison.verdict = ComparisonVerdict::no_difference_shown;
  if (is_difference) {
    const bool faster = is_faster(comparison.metric, result.test.log_ratio);
    comparison.verdict = faster ? ComparisonVerdict::faster : ComparisonVerdict::slower;
    words = faster ? "faster" : "slower";
  }
  if (do_means_disagree(result, is_difference)) {
    comparison.verdict = ComparisonVerdict::means_disagree;
    words = "medians and means disagree, by medians " + words;
  }
  const std::string by_means = signed_percent(result.mean_ratio);
  const std::string amounts =
      by_means == amount ? amount : fmt::format("{} by means, {} by medians", by_means, amount);
  comparison.text =
      fmt::format("{}: {} {}.{}{}", amounts, words, evidence_text(result),
                  remarks(result, is_difference), assumed(comparison.metric, assumptions));
}

// p-values and intervals for the number of groups that were tested on this metric.
void adjust(std::vector<GroupComparison>& comparisons, std::size_t metric) {
  std::vector<std::optional<double>> p_values;
  double family = 0;
  for (const GroupComparison& comparison : comparisons) {
    const auto& test = comparison.metrics[metric].test;
    p_values.push_back(test ? std::optional(test->test.p_value) : std::nullopt);
    family += test ? 1 : 0;
  }
  const auto adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < adjusted.size(); ++i) {
    MetricComparison& comparison = comparisons[i].metrics[metric];
    if (!comparison.test) continue;
    MetricTest& result = *comparison.test;
    result.p_value_adjusted = *adjusted[i];
    // By as much as Holm raised the p-value, so that interval and verdict agree.
    const double raised =
        result.test.p_value > 0 ? result.p_value_adjusted / result.test.p_value : family;
    const double level = (1 - kConfidence) / std::clamp(raised, 1.0, family);
    result.interval = ratio_interval(result.test, 1 - level);
    result.equivalence_p_value =
        std::min(1.0, family * equivalence_p_value(result.test, kEquivalenceMargin));
    const double apart = std::abs(std::log(result.mean_ratio) - result.test.log_ratio);
    result.means_differ =
        means_leave_the_interval(result) && apart > std::log1p(kEquivalenceMargin);
    result.is_equivalent = medians_are_equivalent(result) && !result.means_differ &&
                           !has_side_that_leaves_the_margin(result);
    const double confidence = 1 - (1 - kConfidence) / family;
    result.smallest_visible_difference = smallest_visible_difference(result.test, confidence);
    result.more_runs = more_runs_to_decide(result.test, kEquivalenceMargin, confidence);
    conclude(comparison, comparisons[i].assumptions);
  }
}

// A run for each work that there is in a group.
using Works = std::vector<std::pair<std::int64_t, ComparedWork>>;

Works works_of(const std::vector<ComparedRun>& runs, const ComparedGroup& group) {
  Works works;
  for (const std::size_t index : group.runs) {
    ComparedWork work = work_of(runs[index]);
    const bool is_known =
        std::ranges::any_of(works, [&](const auto& known) { return known.second == work; });
    if (!is_known) works.emplace_back(runs[index].id, std::move(work));
  }
  return works;
}

// What keeps two groups from being compared, whichever of their runs comes first: those of each
// have to be of one work, too.
class GroupObstacles {
 public:
  // `assumptions`: as for obstacles_between().
  explicit GroupObstacles(std::vector<std::string>* assumptions) : assumptions_(assumptions) {}

  void add_within(const Works& works) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      for (std::size_t k = i + 1; k < works.size(); ++k) {
        add(works[i], works[k],
            fmt::format("Of one side, runs {} and {}: ", works[i].first, works[k].first));
      }
    }
  }

  void add_between(const Works& baseline, const Works& other) {
    for (const auto& one : baseline) {
      for (const auto& another : other) {
        const bool are_first = &one == &baseline.front() && &another == &other.front();
        add(one, another,
            are_first ? "" : fmt::format("Runs {} and {}: ", one.first, another.first));
      }
    }
  }

  std::vector<Obstacle> take() { return std::move(obstacles_); }

 private:
  void add(const Works::value_type& one, const Works::value_type& another,
           const std::string& words) {
    std::vector<std::string> assumed;
    for (Obstacle& obstacle : obstacles_between(one.second, another.second,
                                                assumptions_ == nullptr ? nullptr : &assumed)) {
      const bool is_told = std::ranges::any_of(
          obstacles_, [&](const Obstacle& told) { return told.code == obstacle.code; });
      if (is_told) continue;
      obstacle.text.insert(0, words);
      obstacles_.push_back(std::move(obstacle));
    }
    for (std::string& assumption : assumed) {
      if (std::ranges::find(*assumptions_, assumption) != assumptions_->end()) continue;
      assumptions_->push_back(std::move(assumption));
    }
  }

  std::vector<std::string>* assumptions_;
  std::vector<Obstacle> obstacles_;
};

}  // namespace

void test_groups(const std::vector<ComparedRun>& runs, const ComparisonOptions& options,
                 RunComparison& result) {
  const ComparedGroup& baseline = result.groups.front();
  const Works works = works_of(runs, baseline);
  for (std::size_t i = 1; i < result.groups.size(); ++i) {
    const ComparedGroup& other = result.groups[i];
    std::vector<const ComparedRun*> tested;
    for (const std::size_t index : baseline.runs) tested.push_back(&runs[index]);
    for (const std::size_t index : other.runs) tested.push_back(&runs[index]);
    const RunNoise noise = noise_for(tested, options.noise_runs);
    GroupComparison comparison;
    comparison.group = i;
    const Works other_works = works_of(runs, other);
    GroupObstacles obstacles(options.sides.empty() ? nullptr : &comparison.assumptions);
    obstacles.add_within(works);
    obstacles.add_within(other_works);
    obstacles.add_between(works, other_works);
    comparison.obstacles = obstacles.take();
    for (const ComparedMetric metric : kComparedMetrics) {
      comparison.metrics.push_back(
          test_metric(runs, baseline, other, metric, comparison.obstacles, noise));
    }
    result.comparisons.push_back(std::move(comparison));
  }
  for (std::size_t m = 0; m < kComparedMetrics.size(); ++m) adjust(result.comparisons, m);
}

}  // namespace llmb::parser
