// RankEvidence: what a log's own instruments say of its ranks and nodes (which was slowest,
// hottest, flagged), as a table that counts how often each rank was named. Small whatever the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

// Who printed it.
enum class RankSource {
  straggler_detector,  // Megatron-LM's
  timers,              // Megatron's, over all ranks
  nvrx,                // NVIDIA's resiliency extension, in NeMo and Megatron-Bridge
  sniff_test,          // Megatron-LM's micro-benchmarks of each GPU
};

// Where a value stands among those of all ranks.
enum class RankPlace {
  lowest,   // the smallest, or listed among the smallest
  highest,  // the largest, or listed among the largest
  median,
  each,     // of a list of all ranks
  flagged,  // its source calls the rank a straggler or an outlier
};

std::string_view rank_source_name(RankSource source);  // "straggler_detector", …
std::optional<RankSource> rank_source_from_name(std::string_view name);
std::string_view rank_place_name(RankPlace place);  // "lowest", …
std::optional<RankPlace> rank_place_from_name(std::string_view name);

// Over all that was said of one rank in one place.
struct RankValues {
  double min = 0;
  double max = 0;
  double sum = 0;

  bool operator==(const RankValues&) const = default;
};

struct RankMeasure {
  RankSource source = RankSource::straggler_detector;
  // "round_trip_time", "gpu_relative_performance"; of timers and sniff tests the name as printed.
  std::string quantity;
  std::string unit;  // "s", "W", "°C", "Hz", "B/s", "TFLOP/s" (1e12 FLOP/s), "1" of fractions
  RankPlace place = RankPlace::lowest;
  std::optional<std::int64_t> rank;  // nothing where the line names none
  std::string node;                  // empty where the line names none
  std::int64_t count = 0;            // how often it was said
  std::optional<RankValues> values;  // nothing where a rank is flagged without a value
  std::uint64_t offset = 0;          // where the newest line of it begins in the log
  // Several ranks of this quantity and place, which found no row of their own.
  bool is_of_other_ranks = false;

  bool operator==(const RankMeasure&) const = default;
};

// Of one quantity and place at most so many ranks have rows of their own, and of all so many.
inline constexpr std::size_t kRanksOfQuantityMax = 16;
inline constexpr std::size_t kRankMeasuresMax = 256;

struct RankEvidence {
  // By quantity and place in the order in which they first came, and then the rank that was named
  // most often first; other ranks last.
  std::vector<RankMeasure> measures;
  std::int64_t values_left_out = 0;  // of quantities that found no room

  bool operator==(const RankEvidence&) const = default;
};

}  // namespace llmb::parser
