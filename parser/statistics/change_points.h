// Where the level of a series changes: penalised segmentation with a robust loss. The loss of a
// piece is the sum of the distances from its median, so that single odd values change nothing. The
// penalty goes by the noise about the levels that are found, and is at least what the same noise in
// random order would gain by a split in one of two hundred series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace llmb::parser {

struct SegmentationOptions {
  std::size_t piece_min = 2;        // values on each side of a change
  double false_alarm_rate = 0.005;  // of random orders: what the penalty is of
  std::int64_t permutations = 400;
  std::uint64_t seed = 20261122;  // the same series has the same changes each time
  // The values deviate by so much at least, also where rounding makes them equal.
  double deviation_min = 0;
};

// The indexes at which a new level begins, rising. `values`: in the order of time; more than
// kSegmentedMax are too many, and only the newest of them are looked at. Of fewer than
// kChangeValuesMin none can be told. Values that depend on the ones before them, about their
// levels, have to change by more. Of series without a change one of a hundred has one by chance at
// most, and one of twenty where each value takes over half of the one before.
inline constexpr std::size_t kChangeValuesMin = 6;
inline constexpr std::size_t kSegmentedMax = 400;
std::vector<std::size_t> change_points(std::span<const double> values,
                                       const SegmentationOptions& options = {});

// What the two newest values say before a segmentation can: both lie beyond a limit on the same
// side of the level before them, of which six values at least have to be known. A level that drifts
// (level_drift.h) is told as such, and its newest values by their distance from its line.
enum class NewestLevel { steady, higher, lower, drifting, unknown };
inline constexpr std::size_t kLevelValuesMin = 6;
inline constexpr std::size_t kLevelValuesMax = 20;
// The limit goes by how many values are known, so that normal values that do not depend on each
// other alarm once in so many runs.
inline constexpr int kRunsPerFalseAlarm = 300;
// `level_begin`: where the newest level begins, as change_points() has it. `deviation_min`: as in
// SegmentationOptions. `distance_min`: the limit is no less. Never `drifting`.
NewestLevel newest_level(std::span<const double> values, std::size_t level_begin,
                         double deviation_min, double distance_min = 0);

}  // namespace llmb::parser
