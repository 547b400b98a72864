// HistorySeries: what a history tells of the runs of one configuration in the order of their
// starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser/statistics/change_points.h"
#include "parser/statistics/run_identity.h"

namespace llmb::parser {

// A key of the configuration in which the first run of a new level differs from the last of the old
// one.
struct HistoryDifference {
  std::string key;
  std::optional<std::string> before;  // nothing: not stated
  std::optional<std::string> after;
  // No run of the level before has the later value, and none of the new level the earlier one.
  // False: runs of one level differ in it, too, so that it alone did not make the change.
  bool parts_levels = true;
};

// What a change is told of, and by whom else it may have been made.
struct HistoryChange {
  std::size_t at = 0;          // index into the series' runs: the first of the new level
  double before_s = 0;         // median of the runs' locations of the level before it
  double after_s = 0;          // of the new level; where that drifts, before it does
  double step_time_ratio = 1;  // after / before: over 1 is slower
  std::vector<HistoryDifference> differences;
};

// The newest level moves slowly (level_drift.h), by so much from one run to the other.
struct HistoryDrift {
  std::size_t from = 0;        // index into the series' runs: the last before it moves
  std::size_t to = 0;          // the last that has moved
  double before_s = 0;         // of the line through the runs' locations, at `from`
  double after_s = 0;          // at `to`
  double step_time_ratio = 1;  // after / before: over 1 is slower
  double step_time_ratio_per_run = 1;
  bool may_begin_earlier = false;  // `from` is the first run that was looked at, not the first
  bool goes_on = false;            // `to` is the newest run
};

// The runs' means leave their medians by more than they did, or by less: slow steps come or go,
// which medians do not show. Where the medians change, too, the means may move the other way.
struct HistoryMeanChange {
  std::size_t at = 0;                // index into the series' runs: the first of those that do
  double mean_to_median_before = 1;  // median over the runs before it, back to the last such change
  double mean_to_median_after = 1;
  double mean_before_s = 0;  // of the same runs
  double mean_after_s = 0;
  std::vector<HistoryDifference> differences;  // as of HistoryChange

  double ratio() const { return mean_to_median_after / mean_to_median_before; }
};

// Less is not told: it is what a comparison takes for equal, too.
inline constexpr double kMeanChangeMin = 0.01;

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
  std::optional<HistoryDrift> drift;          // of the level behind these
  NewestLevel newest = NewestLevel::unknown;  // of the step time: higher is slower
  std::vector<HistoryMeanChange> mean_changes;
  NewestLevel newest_means = NewestLevel::unknown;  // of the means over the medians: higher has
                                                    // more slow steps
};

using ChangeFinder =
    std::function<std::vector<std::size_t>(std::span<const double>, const SegmentationOptions&)>;

}  // namespace llmb::parser
