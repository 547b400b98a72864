#include "parser/statistics/run_comparison.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "parser/foundation/name_table.h"
#include "parser/statistics/run_copies.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kNoGroup = static_cast<std::size_t>(-1);

void measure_group(const std::vector<ComparedRun>& runs, const ComparisonOptions& options,
                   ComparedGroup& group) {
  for (const ComparedMetric metric : kComparedMetrics) {
    GroupMetric result;
    result.metric = metric;
    std::vector<double> means;
    for (const std::size_t index : group.runs) {
      if (const auto mean = mean_of(runs[index], metric)) means.push_back(*mean);
    }
    result.estimate = estimate_mean(means);
    if (!result.estimate) {
      result.reason = missing_reason(runs[group.runs.front()], metric);
    } else if (result.estimate->run_count < 2) {
      result.reason = "One run shows no run-to-run deviation: its mean has no interval.";
    }
    group.metrics.push_back(std::move(result));
  }
  std::vector<RunAgainstPublished> published;
  published.reserve(group.runs.size());
  for (const std::size_t index : group.runs) {
    published.push_back(against_published(runs[index], marks_of(runs[index])));
  }
  std::vector<const RunAgainstPublished*> pointers;
  pointers.reserve(published.size());
  for (const RunAgainstPublished& run : published) pointers.push_back(&run);
  group.speed_against_reference = estimate_mean(speeds_against_reference(pointers));
  group.published_standing = standing_of(pointers, options.noise_runs);
}

void list_differences(const std::vector<std::vector<Characteristics>>& groups,
                      RunComparison& result) {
  std::map<std::string, std::vector<std::set<std::string>>> by_key;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const Characteristics& run : groups[i]) {
      for (const auto& [key, value] : run) {
        auto& values = by_key[key];
        values.resize(groups.size());
        values[i].insert(value);
      }
    }
  }
  for (const auto& [key, values] : by_key) {
    const bool all_equal =
        std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
    if (all_equal) continue;
    ConfigurationDifference difference{key, {}};
    for (const auto& of_group : values) {
      std::string text;
      for (const std::string& value : of_group) text += (text.empty() ? "" : " | ") + value;
      difference.values.push_back(of_group.empty() ? std::nullopt : std::optional(text));
    }
    result.differences.push_back(std::move(difference));
  }
}

// Which group a run is in: its side's, or that of its configuration. A side without a run that
// counts has no group, so groups are numbered as they come.
class Grouping {
 public:
  explicit Grouping(const ComparisonOptions& options) : options_(options) {
    if (!options.sides.empty()) {
      groups_.resize(*std::max_element(options.sides.begin(), options.sides.end()) + 1, kNoGroup);
    }
  }

  std::size_t place(std::size_t run, const Characteristics& own, RunComparison& result) {
    const std::size_t group = options_.sides.empty() ? of_configuration(own, result)
                                                     : of_side(options_.sides[run], result);
    characteristics_.resize(result.groups.size());
    characteristics_[group].push_back(own);
    return group;
  }

  const std::vector<std::vector<Characteristics>>& characteristics() const {
    return characteristics_;
  }

 private:
  std::size_t of_side(std::size_t side, RunComparison& result) {
    if (groups_[side] == kNoGroup) {
      groups_[side] = result.groups.size();
      result.groups.emplace_back();
      if (side < options_.side_names.size()) result.groups.back().name = options_.side_names[side];
    }
    return groups_[side];
  }

  std::size_t of_configuration(const Characteristics& own, RunComparison& result) const {
    const auto found = std::find_if(characteristics_.begin(), characteristics_.end(),
                                    [&](const auto& group) { return group.front() == own; });
    if (found == characteristics_.end()) result.groups.emplace_back();
    return static_cast<std::size_t>(found - characteristics_.begin());
  }

  const ComparisonOptions& options_;
  std::vector<std::size_t> groups_;  // by side
  std::vector<std::vector<Characteristics>> characteristics_;
};

// The sides stand in the order in which they were named, whichever run comes first.
std::vector<std::size_t> order_of(const std::vector<ComparedRun>& runs,
                                  const ComparisonOptions& options) {
  std::vector<std::size_t> order(runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!options.sides.empty()) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return options.sides[a] < options.sides[b];
    });
  }
  return order;
}

constexpr auto kVerdicts = name_table<ComparisonVerdict>({
    {ComparisonVerdict::cannot_be_told, "cannot_be_told"},
    {ComparisonVerdict::faster, "faster"},
    {ComparisonVerdict::slower, "slower"},
    {ComparisonVerdict::no_difference_shown, "no_difference_shown"},
    {ComparisonVerdict::not_comparable, "not_comparable"},
});

}  // namespace

std::string_view comparison_verdict_name(ComparisonVerdict verdict) {
  return kVerdicts.name(verdict);
}

std::string missing_reason(const ComparedRun& run, ComparedMetric metric) {
  if (metric == ComparedMetric::tokens_per_s_per_gpu) {
    return run.judgement.metrics.derived.tokens_per_s_per_gpu.reason;
  }
  return "The log prints none in the window " + to_string(run.judgement.summary.window) + ".";
}

RunComparison compare_runs(const std::vector<ComparedRun>& runs, const ComparisonOptions& options) {
  RunComparison result;
  result.runs.resize(runs.size());
  Grouping grouping(options);
  RunCopies copies;
  for (const std::size_t i : order_of(runs, options)) {
    const ComparedRun& run = runs[i];
    RunStanding& standing = result.runs[i];
    standing.marks = marks_of(run);
    standing.exclusion = exclusion_reason(standing.marks, options.included);
    if (!standing.exclusion.empty()) continue;
    if (const auto original = copies.count(run.content_key, i)) {
      standing.exclusion = copy_reason(runs[*original].id);
      continue;
    }
    const std::size_t group = grouping.place(i, characteristics_of(run, standing.marks), result);
    result.groups[group].runs.push_back(i);
    standing.group = group;
  }
  for (ComparedGroup& group : result.groups) measure_group(runs, options, group);
  list_differences(grouping.characteristics(), result);
  if (!result.groups.empty()) test_groups(runs, options, result);
  return result;
}

}  // namespace llmb::parser
