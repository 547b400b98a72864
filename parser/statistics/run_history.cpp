#include "parser/statistics/run_history.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "parser/statistics/history_levels.h"
#include "parser/statistics/run_copies.h"
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

std::vector<std::size_t> stated_counts_of(const HistoryRuns& runs) {
  std::vector<std::size_t> counts;
  counts.reserve(runs.size());
  for (const auto& run : runs) counts.push_back(stated_count(run->configuration->identity));
  return counts;
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
  for (const std::size_t i : counting_order(stated_counts_of(runs))) {
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
      find_levels(runs, find_change_points, series);
      history.series.push_back(std::move(series));
    }
  }
  name_other_windows(history.series);
  return history;
}

}  // namespace llmb::parser
