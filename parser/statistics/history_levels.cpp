#include "parser/statistics/history_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "parser/statistics/level_drift.h"
#include "parser/statistics/median.h"
#include "parser/statistics/run_noise.h"

namespace llmb::parser {
namespace {

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
std::vector<HistoryDifference> differences_between(const HistoryRuns& runs, Level before,
                                                   Level after) {
  const HistoryRun& last = *runs[before.back()];
  const HistoryRun& first = *runs[after.front()];
  std::set<std::string> keys;
  for (const HistoryRun* const run : {&last, &first}) {
    for (const auto& [key, value] : run->configuration->characteristics) keys.insert(key);
  }
  std::vector<HistoryDifference> differences;
  for (const std::string& key : keys) {
    HistoryDifference difference{key, value_of(last, key), value_of(first, key)};
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

// Two levels that follow each other, as indexes of a series' runs.
struct LevelPair {
  std::size_t begin = 0;
  std::size_t change = 0;
  std::size_t end = 0;
};

// `starts`: of each level but the first; `count`: of all runs.
std::vector<LevelPair> level_pairs(std::span<const std::size_t> starts, std::size_t count) {
  std::vector<LevelPair> pairs;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    pairs.push_back(
        {k > 0 ? starts[k - 1] : 0, starts[k], k + 1 < starts.size() ? starts[k + 1] : count});
  }
  return pairs;
}

std::vector<HistoryDifference> differences_at(const HistoryRuns& runs, const HistorySeries& series,
                                              const LevelPair& pair) {
  const Level level(series.runs);
  return differences_between(runs, level.subspan(pair.begin, pair.change - pair.begin),
                             level.subspan(pair.change, pair.end - pair.change));
}

// Of logarithms; a median is that of what they are logarithms of.
double median_before(std::span<const double> logs, const LevelPair& pair) {
  return std::exp(median_of(logs.subspan(pair.begin, pair.change - pair.begin)));
}
double median_after(std::span<const double> logs, const LevelPair& pair) {
  return std::exp(median_of(logs.subspan(pair.change, pair.end - pair.change)));
}

HistoryDrift told_drift(const LevelDrift& drift, std::size_t run_count) {
  HistoryDrift told;
  told.from = drift.begin;
  told.to = drift.end;
  told.before_s = std::exp(drift.from.y);
  told.after_s = std::exp(drift.to.y);
  told.may_begin_earlier = drift.may_begin_earlier;
  told.goes_on = drift.end + 1 == run_count;
  told.step_time_ratio = told.after_s / told.before_s;
  told.step_time_ratio_per_run =
      std::exp((drift.to.y - drift.from.y) / static_cast<double>(drift.end - drift.begin));
  return told;
}

void find_changes_of_medians(const HistoryRuns& runs, const ChangeFinder& find_change_points,
                             const SegmentationOptions& options, HistorySeries& series) {
  std::vector<double> logs;
  std::vector<LinePoint> points;
  for (const std::size_t index : series.runs) {
    logs.push_back(*runs[index]->log_step_time_s);
    points.push_back({static_cast<double>(points.size()), logs.back()});
  }
  std::vector<std::size_t> starts = find_change_points(logs, options);
  const auto drift = level_drift(points, starts, options.deviation_min);
  // What is taken for levels behind its beginning is the drift's.
  if (drift) std::erase_if(starts, [&](std::size_t start) { return start > drift->level; });
  for (const LevelPair& pair : level_pairs(starts, logs.size())) {
    HistoryChange change;
    change.at = pair.change;
    change.before_s = median_before(logs, pair);
    const bool drifts = drift && pair.change == drift->level;
    change.after_s = drifts ? std::exp(drift->from.y) : median_after(logs, pair);
    change.step_time_ratio = change.after_s / change.before_s;
    change.differences = differences_at(runs, series, pair);
    series.changes.push_back(std::move(change));
  }
  if (drift) {
    series.drift = told_drift(*drift, logs.size());
    for (std::size_t i = drift->level; i < logs.size(); ++i) logs[i] -= drift->at(points[i].x);
  }
  series.newest = newest_level(logs, starts.empty() ? 0 : starts.back(), options.deviation_min);
  const bool goes_on = series.drift && series.drift->goes_on;
  if (goes_on && series.newest == NewestLevel::steady) series.newest = NewestLevel::drifting;
}

// What is smaller than `least` is no border of what is told. The smallest goes first: without it
// the next may be large enough.
void erase_small_changes(std::span<const double> logs, double least,
                         std::vector<std::size_t>& starts) {
  while (!starts.empty()) {
    std::vector<double> sizes;
    for (const LevelPair& pair : level_pairs(starts, logs.size())) {
      sizes.push_back(std::abs(std::log(median_after(logs, pair) / median_before(logs, pair))));
    }
    const auto smallest = std::min_element(sizes.begin(), sizes.end());
    if (*smallest >= least) return;
    starts.erase(starts.begin() + (smallest - sizes.begin()));
  }
}

void find_changes_of_means(const HistoryRuns& runs, const ChangeFinder& find_change_points,
                           const SegmentationOptions& options, HistorySeries& series) {
  std::vector<double> means;  // logarithms, as are these over the medians
  std::vector<double> ratios;
  for (const std::size_t index : series.runs) {
    const WindowStatistics& times = *runs[index]->step_time_s;
    means.push_back(std::log(times.mean));
    ratios.push_back(std::log(times.mean / times.median));
  }
  const double least = std::log1p(kMeanChangeMin);
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  // Of most series no segmentation could tell one.
  const bool may_change = *high - *low >= least;
  std::vector<std::size_t> starts =
      may_change ? find_change_points(ratios, options) : std::vector<std::size_t>();
  erase_small_changes(ratios, least, starts);
  for (const LevelPair& pair : level_pairs(starts, ratios.size())) {
    HistoryMeanChange change;
    change.at = pair.change;
    change.mean_to_median_before = median_before(ratios, pair);
    change.mean_to_median_after = median_after(ratios, pair);
    change.mean_before_s = median_before(means, pair);
    change.mean_after_s = median_after(means, pair);
    change.differences = differences_at(runs, series, pair);
    series.mean_changes.push_back(std::move(change));
  }
  series.newest_means =
      newest_level(ratios, starts.empty() ? 0 : starts.back(), options.deviation_min, least);
}

}  // namespace

void find_levels(const HistoryRuns& runs, const ChangeFinder& find_change_points,
                 HistorySeries& series) {
  SegmentationOptions options;
  options.deviation_min = std::max(kRunStddevMin, rounding_deviation_of(runs, series));
  find_changes_of_medians(runs, find_change_points, options, series);
  find_changes_of_means(runs, find_change_points, options, series);
}

}  // namespace llmb::parser
