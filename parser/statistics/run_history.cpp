#include "parser/statistics/run_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "parser/statistics/median.h"
#include "parser/statistics/run_copies.h"
#include "parser/statistics/run_noise.h"
#include "parser/statistics/run_start.h"

namespace llmb::parser {
namespace {

using HistoryKey = std::tuple<RunIdentity, std::optional<std::int64_t>, std::string>;

HistoryKey history_key_of(const HistoryConfiguration& configuration) {
  return {configuration.identity, configuration.global_batch_size, configuration.window};
}

// Of one cluster. By start where that is known, else as they were given.
std::vector<std::size_t> sorted_by_start(const HistoryRuns& runs,
                                         const std::vector<std::size_t>& indexes) {
  std::vector<RunStart> starts;
  starts.reserve(indexes.size());
  for (const std::size_t i : indexes) starts.push_back({runs[i]->launched_at, runs[i]->job_id, {}});
  const auto order = order_of(starts);
  if (!order) return indexes;
  std::vector<std::size_t> sorted;
  for (const std::size_t place : *order) sorted.push_back(indexes[place]);
  return sorted;
}

// Of runs given by their indexes, in the order of their starts.
using Level = std::span<const std::size_t>;

std::optional<std::string> value_of(const HistoryRun& run, const std::string& key) {
  const Characteristics& all = run.configuration->characteristics;
  const auto value = all.find(key);
  return value == all.end() ? std::nullopt : std::optional<std::string>(value->second);
}

bool has_value(const HistoryRuns& runs, Level level, const std::string& key,
               const std::optional<std::string>& value) {
  return std::any_of(level.begin(), level.end(),
                     [&](std::size_t run) { return value_of(*runs[run], key) == value; });
}

// Between the last run of a level and the first of the next.
std::vector<HistoryChange::Difference> differences_between(const HistoryRuns& runs, Level before,
                                                           Level after) {
  const HistoryRun& last = *runs[before.back()];
  const HistoryRun& first = *runs[after.front()];
  std::set<std::string> keys;
  for (const HistoryRun* const run : {&last, &first}) {
    for (const auto& [key, value] : run->configuration->characteristics) keys.insert(key);
  }
  std::vector<HistoryChange::Difference> differences;
  for (const std::string& key : keys) {
    HistoryChange::Difference difference{key, value_of(last, key), value_of(first, key)};
    if (difference.before == difference.after) continue;
    difference.parts_levels = !has_value(runs, before, key, difference.after) &&
                              !has_value(runs, after, key, difference.before);
    differences.push_back(std::move(difference));
  }
  std::stable_partition(differences.begin(), differences.end(),
                        [](const auto& difference) { return difference.parts_levels; });
  return differences;
}

// By how much the runs' locations may deviate unseen, since their step times are rounded: half of
// the last printed digit. The shortest and the longest step of a window stand there as printed, so
// that the one with the most decimals shows it; every producer prints three digits at least.
double rounding_deviation_of(const HistoryRuns& runs, const HistorySeries& series) {
  const WindowStatistics& newest = *runs[series.runs.back()]->step_time_s;
  int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(newest.median))));
  for (const std::size_t index : series.runs) {
    const WindowStatistics& times = *runs[index]->step_time_s;
    for (const double printed : {times.min, times.max}) {
      const std::string text = fmt::format("{:.6f}", printed);
      decimals = std::max(decimals, static_cast<int>(text.find_last_not_of('0') - text.find('.')));
    }
  }
  return 0.5 * std::pow(10.0, -decimals) / newest.median;
}

void find_changes(const HistoryRuns& runs, const ChangeFinder& find_change_points,
                  HistorySeries& series) {
  std::vector<double> logs;
  for (const std::size_t index : series.runs) {
    logs.push_back(*runs[index]->log_step_time_s);
  }
  SegmentationOptions options;
  options.deviation_min = std::max(kRunStddevMin, rounding_deviation_of(runs, series));
  const std::vector<std::size_t> starts = find_change_points(logs, options);
  const auto all = std::span<const double>(logs);
  std::size_t begin = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const std::size_t end = k + 1 < starts.size() ? starts[k + 1] : logs.size();
    HistoryChange change;
    change.at = starts[k];
    change.before_s = std::exp(median_of(all.subspan(begin, starts[k] - begin)));
    change.after_s = std::exp(median_of(all.subspan(starts[k], end - starts[k])));
    change.step_time_ratio = change.after_s / change.before_s;
    const Level level(series.runs);
    change.differences = differences_between(runs, level.subspan(begin, starts[k] - begin),
                                             level.subspan(starts[k], end - starts[k]));
    series.changes.push_back(std::move(change));
    begin = starts[k];
  }
  series.newest = newest_level(logs, starts.empty() ? 0 : starts.back(), options.deviation_min);
}

// Indexes of runs of one configuration, or of one series of it.
struct Members {
  std::vector<std::size_t> counted;
  std::vector<std::size_t> left_out;
};

// Indexes of runs: copies by the run that counts in their place.
using Copies = std::multimap<std::size_t, std::size_t>;

void add_copies(const Copies& copies, HistorySeries& series) {
  for (const std::size_t run : series.runs) {
    const auto [first, end] = copies.equal_range(run);
    for (auto copy = first; copy != end; ++copy) series.copies.push_back({copy->second, run});
  }
}

// A release that names another window begins another series: what came with it is in neither. Those
// of one configuration stand side by side.
void name_other_windows(std::vector<HistorySeries>& history) {
  for (auto first = history.begin(); first != history.end();) {
    const auto end = std::find_if(first, history.end(), [&](const HistorySeries& series) {
      return series.identity != first->identity ||
             series.global_batch_size != first->global_batch_size;
    });
    for (auto series = first; series != end; ++series) {
      for (auto other = first; other != end; ++other) {
        if (other->cluster == series->cluster && other->window != series->window) {
          series->other_windows.push_back(other->window);
        }
      }
    }
    first = end;
  }
}

std::string why_left_out(const HistoryRun& run, const RunMarkSet& included) {
  std::string reason = exclusion_reason(run.marks, included);
  if (!reason.empty() || run.log_step_time_s) return reason;
  return "No step in the window " + run.configuration->window + " has a step time.";
}

void add_left_out(const HistoryRuns& runs, const Members& members, const RunMarkSet& included,
                  std::vector<HistoryLeftOut>& left_out) {
  for (const std::size_t i : members.left_out) {
    left_out.push_back({i, why_left_out(*runs[i], included)});
  }
}

std::map<std::string, Members> by_cluster(const HistoryRuns& runs, const Members& all,
                                          const TreeClusters& trees) {
  std::map<std::string, Members> clusters;
  const auto of = [&](std::size_t i) -> Members& {
    return clusters[trees.of(runs[i]->tree, runs[i]->cluster)];
  };
  for (const std::size_t i : all.counted) of(i).counted.push_back(i);
  for (const std::size_t i : all.left_out) of(i).left_out.push_back(i);
  return clusters;
}

}  // namespace

RunHistory run_history(const HistoryRuns& runs, const RunSelection& selection,
                       const RunMarkSet& included, const TreeClusters& trees,
                       const ChangeFinder& find_change_points) {
  std::map<HistoryKey, Members> members;
  // Null: not selected. Runs of one configuration are of one series.
  std::unordered_map<const HistoryConfiguration*, Members*> known;
  std::map<std::string, RunCopies> contents;  // by cluster
  Copies copies;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const HistoryRun& run = *runs[i];
    const auto [entry, is_new] = known.try_emplace(run.configuration.get(), nullptr);
    if (is_new && is_selected(run.configuration->identity, selection)) {
      entry->second = &members[history_key_of(*run.configuration)];
    }
    if (entry->second == nullptr) continue;
    if (!run.log_step_time_s || !exclusion_reason(run.marks, included).empty()) {
      entry->second->left_out.push_back(i);
      continue;
    }
    if (const auto original = contents[trees.of(run.tree, run.cluster)].count(run.content_key, i)) {
      copies.emplace(*original, i);
    } else {
      entry->second->counted.push_back(i);
    }
  }
  RunHistory history;
  for (const auto& [key, all] : members) {
    for (const auto& [cluster, of_cluster] : by_cluster(runs, all, trees)) {
      if (of_cluster.counted.empty()) {
        add_left_out(runs, of_cluster, included, history.unplaced);
        continue;
      }
      HistorySeries series;
      std::tie(series.identity, series.global_batch_size, series.window) = key;
      series.cluster = cluster;
      series.runs = sorted_by_start(runs, of_cluster.counted);
      add_copies(copies, series);
      add_left_out(runs, of_cluster, included, series.left_out);
      find_changes(runs, find_change_points, series);
      history.series.push_back(std::move(series));
    }
  }
  name_other_windows(history.series);
  return history;
}

}  // namespace llmb::parser
