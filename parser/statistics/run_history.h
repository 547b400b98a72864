// RunHistory: the runs of one configuration in the order in which they were started, where their
// step time changed its level, and what of the configuration changed there. What a cluster changes
// over time (release, environment, nodes) is no part of what keeps series apart; the cluster is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser/statistics/change_points.h"
#include "parser/statistics/history_run.h"
#include "parser/statistics/run_selection.h"
#include "parser/statistics/tree_clusters.h"

namespace llmb::parser {

// What a change is told of, and by whom else it may have been made.
struct HistoryChange {
  std::size_t at = 0;          // index into the series' runs: the first of the new level
  double before_s = 0;         // median of the runs' locations of the level before it
  double after_s = 0;          // of the new level
  double step_time_ratio = 1;  // after / before: over 1 is slower
  // Keys of the configuration in which the first run of the new level differs from the last of the
  // old one.
  struct Difference {
    std::string key;
    std::optional<std::string> before;  // nothing: not stated
    std::optional<std::string> after;
    // No run of the level before has the later value, and none of the new level the earlier one.
    // False: runs of one level differ in it, too, so that it alone did not make the change.
    bool parts_levels = true;
  };
  std::vector<Difference> differences;
};

// A log that stands somewhere else, too; it is in no series.
struct HistoryCopy {
  std::size_t run = 0;      // both are indexes into the runs given
  std::size_t copy_of = 0;  // the run that counts
};

// A run that does not count, by its marks or for want of a step time.
struct HistoryLeftOut {
  std::size_t run = 0;  // index into the runs given
  std::string reason;
};

struct HistorySeries {
  RunIdentity identity;
  std::optional<std::int64_t> global_batch_size;
  std::string window;
  std::string cluster;  // see TreeClusters; empty: not known
  // Of other series of the same configuration, which are not held against this one.
  std::vector<std::string> other_windows;
  std::vector<std::size_t> runs;    // indexes into the runs given, by their start
  std::vector<HistoryCopy> copies;  // of these
  std::vector<HistoryLeftOut> left_out;
  std::vector<HistoryChange> changes;
  NewestLevel newest = NewestLevel::unknown;  // of the step time: higher is slower
};

struct RunHistory {
  std::vector<HistorySeries> series;
  std::vector<HistoryLeftOut> unplaced;  // of configurations of which no run counts
};

// What every answer says of the method.
inline constexpr std::string_view kHistoryMethod =
    "One value is the logarithm of a run's median step time over its window; of one cluster logs "
    "with the same bytes are one run. Runs stand in the "
    "order of their starts (of their job ids, where those are not known). Changes of level are "
    "found by penalised segmentation with distances from medians, so that single odd runs are no "
    "change; the penalty goes by the noise about the levels, and is raised where runs depend on "
    "the "
    "ones before: of series whose level never changed one of 100 has a change by chance at most, "
    "and "
    "one of 20 where each run takes over half of the one before. Of fewer than six runs no change "
    "can "
    "be told. The newest level is called higher or lower where the two newest runs both lie three "
    "deviations or more from the level before them.";

using ChangeFinder =
    std::function<std::vector<std::size_t>(std::span<const double>, const SegmentationOptions&)>;

// Runs that are marked are left out unless `included` names their mark. Series by workload, model
// size, dtype, GPU, scale, batch and cluster; those of one run too. Every selected run stands in
// one place: it counts, or is a copy, or is left out. `selection` is by catalog names; `trees`
// learnt from all runs. `find_change_points`: change_points(), or what knows its answers.
RunHistory run_history(const HistoryRuns& runs, const RunSelection& selection,
                       const RunMarkSet& included, const TreeClusters& trees,
                       const ChangeFinder& find_change_points = change_points);

}  // namespace llmb::parser
