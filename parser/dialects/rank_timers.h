// RankTimerReader: the blocks in which Megatron prints its timers over all ranks, line by line. A
// block's lines follow each other; what other processes print between them may cost a part of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/rank_measures.h"
#include "parser/dialects/state_text.h"

namespace llmb::parser {

// What the lines of a block hold. A pair in brackets is the lowest and the highest without a header
// above it. Where each rank's time is printed, a timer's name stands alone on a line: only names
// that end like these are read there, because a line without a literal is not seen.
inline constexpr std::string_view kHighestTimesHeader = "max time across ranks (ms):";
inline constexpr std::string_view kEachRanksTimesHeader = "times across ranks (ms):";
inline constexpr std::string_view kRankTimerDots = "....: ";
inline constexpr std::string_view kRankTimeIndent = "     rank ";
inline constexpr std::array<std::string_view, 6> kTimerNamesAboveRanks = {
    "  forward-backward:", "ward-compute:",     "  optimizer:",
    "  batch-generator:",  "  all-grads-sync:", "  params-all-gather:"};

struct RankTime {
  double seconds = 0;
  std::int64_t rank = 0;
};

// The ranks' times of one timer, as far as they were read.
struct RankTimer {
  std::string name;
  std::optional<RankTime> lowest;
  std::optional<RankTime> highest;
  std::int64_t last_rank = -1;
  std::uint64_t offset = 0;
};

class RankTimerReader {
 public:
  // `line_bytes`: the length of the line in the log, with the labels that the record lacks. Adds
  // what the line says to `measures`; where a block tells each rank's time, its lowest and its
  // highest are added behind the last rank.
  void read(const Record& record, std::size_t line_bytes, RankMeasures& measures);

  // What is read of a timer whose ranks may go on.
  void add_open_timer(RankMeasures& measures) const;
  bool has_open_timer() const { return timer_.has_value(); }

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  enum class Form { none, highest, each_rank };  // of the block by its header

  bool read_header(std::string_view text, RankMeasures& measures);
  void read_dotted(const Record& record, RankMeasures& measures) const;
  void read_rank(const Record& record, std::string_view text, bool is_next, RankMeasures& measures);
  void close_timer(RankMeasures& measures);

  Form form_ = Form::none;
  std::uint64_t end_ = 0;  // of the block's newest line, with its line's end
  // Nothing where no name stands above the ranks that come.
  std::optional<RankTimer> timer_;
};

}  // namespace llmb::parser
