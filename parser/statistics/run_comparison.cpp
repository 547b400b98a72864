#include "parser/statistics/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

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
    published.push_back(against_published(runs[index]));
  }
  std::vector<const RunAgainstPublished*> pointers;
  pointers.reserve(published.size());
  for (const RunAgainstPublished& run : published) pointers.push_back(&run);
  const StandingTogether together = standing_together(pointers, options.published_noise_runs);
  group.speed_against_reference = together.speed;
  group.published_standing = together.standing;
  if (group.published_standing) return;
  group.published_reason = together.several_references.empty()
                               ? runs[group.runs.front()].published.metrics.reference_reason
                               : together.several_references;
}

using StatedValues = std::set<std::optional<std::string>>;

// Nothing where none is stated.
std::optional<std::string> joined(const StatedValues& values) {
  if (values == StatedValues{std::nullopt}) return std::nullopt;
  std::string text;
  for (const auto& value : values) {
    if (value) text += (text.empty() ? "" : " | ") + *value;
  }
  if (values.contains(std::nullopt)) text += " | (not stated)";
  return text;
}

void list_differences(const std::vector<std::vector<Characteristics>>& groups,
                      RunComparison& result) {
  std::set<std::string> keys;
  for (const auto& group : groups) {
    for (const Characteristics& run : group) {
      for (const auto& [key, value] : run) keys.insert(key);
    }
  }
  for (const std::string& key : keys) {
    std::vector<StatedValues> by_group;
    for (const auto& group : groups) {
      StatedValues& values = by_group.emplace_back();
      for (const Characteristics& run : group) {
        const auto stated = run.find(key);
        values.insert(stated == run.end() ? std::nullopt : std::optional(stated->second));
      }
    }
    // Sides that are mixed alike differ in nothing else, and are mixed all the same.
    const bool all_equal = std::ranges::all_of(by_group, [&](const StatedValues& values) {
      return values.size() == 1 && values == by_group.front();
    });
    if (all_equal) continue;
    ConfigurationDifference difference{key, {}};
    for (const StatedValues& values : by_group) difference.values.push_back(joined(values));
    result.differences.push_back(std::move(difference));
  }
}

std::string name_of_side(const ComparisonOptions& options, std::size_t side) {
  return side < options.side_names.size() ? options.side_names[side] : "";
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
      result.groups.back().side = side;
      result.groups.back().name = name_of_side(options_, side);
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
std::vector<std::size_t> by_side(std::vector<std::size_t> order, const ComparisonOptions& options) {
  if (!options.sides.empty()) {
    std::ranges::stable_sort(order, {}, [&](std::size_t run) { return options.sides[run]; });
  }
  return order;
}

std::vector<std::size_t> order_of(const std::vector<ComparedRun>& runs,
                                  const ComparisonOptions& options) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return by_side(std::move(order), options);
}

// Whether a run is left out for how it was launched, which a copy of its log elsewhere does not
// show.
bool is_left_out_as_launched(const RunStanding& standing) {
  constexpr std::array kAsLaunched = {RunMark::profiled, RunMark::traced, RunMark::function_check,
                                      RunMark::proxy, RunMark::on_cpu};
  return !standing.exclusion.empty() &&
         std::ranges::any_of(standing.marks, [&](const RunMarkReason& reason) {
           return std::ranges::find(kAsLaunched, reason.mark) != kAsLaunched.end();
         });
}

// Of what is not left out already. The first side that has a log keeps it.
void leave_out_copies(const std::vector<ComparedRun>& runs, const ComparisonOptions& options,
                      RunComparison& result) {
  RunCopies copies;
  const std::vector<std::size_t> originals = originals_of(runs);
  for (const std::size_t i : by_side(counting_order(stated_counts_of(runs)), options)) {
    std::string& exclusion = result.runs[i].exclusion;
    if (!exclusion.empty()) continue;
    if (originals[i] != i && is_left_out_as_launched(result.runs[originals[i]])) {
      exclusion = copy_reason(runs[originals[i]].id);
      continue;
    }
    if (const auto original = copies.count(runs[i].content_key, i)) {
      exclusion = copy_reason(runs[*original].id);
    }
  }
}

constexpr std::size_t kReasonsMax = 8;

// Why no run of it counts.
std::string reason_of(const std::vector<ComparedRun>& runs, const RunComparison& result,
                      const MissingSide& side) {
  const std::string name = side.name.empty() ? fmt::format("side {}", side.side + 1) : side.name;
  if (side.runs.empty()) return fmt::format("No run of {} is among those that are compared.", name);
  if (side.runs.size() == 1) {
    const std::int64_t id = runs[side.runs.front()].id;
    if (side.name.empty() || side.name == fmt::format("run {}", id)) {
      return fmt::format("Run {} is left out: {}", id, result.runs[side.runs.front()].exclusion);
    }
  }
  const auto named = std::span(side.runs).first(std::min(side.runs.size(), kReasonsMax));
  std::string text = exclusions_text(runs, result, named);
  if (side.runs.size() > kReasonsMax) {
    text += fmt::format("; and {} more", side.runs.size() - kReasonsMax);
  }
  return fmt::format("No run of {} counts: {}.", name, text);
}

void list_missing_sides(const std::vector<ComparedRun>& runs, const ComparisonOptions& options,
                        RunComparison& result) {
  if (options.sides.empty()) return;
  const std::size_t count = std::max(
      options.side_names.size(), *std::max_element(options.sides.begin(), options.sides.end()) + 1);
  for (std::size_t side = 0; side < count; ++side) {
    const bool is_there = std::ranges::any_of(
        result.groups, [&](const ComparedGroup& group) { return group.side == side; });
    if (is_there) continue;
    MissingSide missing{side, name_of_side(options, side), {}, ""};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (options.sides[i] == side) missing.runs.push_back(i);
    }
    missing.reason = reason_of(runs, result, missing);
    result.missing_sides.push_back(std::move(missing));
  }
}

constexpr auto kVerdicts = name_table<ComparisonVerdict>({
    {ComparisonVerdict::cannot_be_told, "cannot_be_told"},
    {ComparisonVerdict::faster, "faster"},
    {ComparisonVerdict::slower, "slower"},
    {ComparisonVerdict::no_difference_shown, "no_difference_shown"},
    {ComparisonVerdict::means_disagree, "means_disagree"},
    {ComparisonVerdict::not_comparable, "not_comparable"},
});

}  // namespace

std::string_view comparison_verdict_name(ComparisonVerdict verdict) {
  return kVerdicts.name(verdict);
}

std::string exclusions_text(const std::vector<ComparedRun>& runs, const RunComparison& comparison,
                            std::span<const std::size_t> which) {
  std::string text;
  for (const std::size_t run : which) {
    std::string_view why = comparison.runs[run].exclusion;
    if (why.ends_with('.')) why.remove_suffix(1);
    text += fmt::format("{}run {}: {}", text.empty() ? "" : "; ", runs[run].id, why);
  }
  return text;
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
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RunStanding& standing = result.runs[i];
    if (!options.sides.empty()) standing.side = options.sides[i];
    standing.marks = marks_of(runs[i]);
    standing.exclusion = exclusion_reason(standing.marks, options.included);
  }
  leave_out_copies(runs, options, result);
  Grouping grouping(options);
  for (const std::size_t i : order_of(runs, options)) {
    RunStanding& standing = result.runs[i];
    if (!standing.exclusion.empty()) continue;
    const std::size_t group =
        grouping.place(i, characteristics_of(runs[i], standing.marks), result);
    result.groups[group].runs.push_back(i);
    standing.group = group;
  }
  for (ComparedGroup& group : result.groups) measure_group(runs, options, group);
  list_differences(grouping.characteristics(), result);
  list_missing_sides(runs, options, result);
  const bool has_baseline = !result.groups.empty() && result.groups.front().side.value_or(0) == 0;
  if (has_baseline) test_groups(runs, options, result);
  return result;
}

}  // namespace llmb::parser
