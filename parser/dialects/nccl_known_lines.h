// NcclKnownLines: lines of an NCCL trace as they were read. Ranks make the same calls step after
// step, and but for the digits of counters and buffers their lines are the same: those are told by
// comparing bytes, without a look for their fields. Where there is no room it forgets the oldest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/lines/line_pattern.h"
#include "parser/lines/literal_scanner.h"
#include "parser/lines/stamp_shape.h"
#include "parser/nccl_use.h"

namespace llmb::parser {

class NcclKnownLines {
 public:
  // What counts of a call.
  struct Call {
    std::size_t use = 0;
    std::int64_t other_bytes = 0;  // 0 unless `use` is the last, of all that have no room
  };
  struct Counts {
    std::array<std::int64_t, kNcclUsesMax + 1> calls{};  // by use
    std::int64_t other_bytes = 0;
  };

  // What stands before "NCCL INFO ": a stamp, which may be another for each line, and a label.
  struct Prefix {
    StampShape stamp;
    std::size_t label_length = 0;

    std::size_t length() const { return stamp.size() + label_length; }
  };

  // Adds up the lines in front of `lines` as far as ones like them were learnt, with whatever stamp
  // of that shape; returns how many bytes they take, with their ends.
  std::size_t add_up(std::string_view lines, const Prefix& prefix, Counts& counts);

  // `line` is one whole call with its end.
  void learn(std::string_view line, const Prefix& prefix, Call call);

 private:
  using Number = std::uint16_t;  // an index of lines_; 0: none
  struct alignas(64) Known {
    Call call;
    LinePattern pattern;
  };
  struct Set {
    std::array<std::uint32_t, 4> tags{};  // parts of hashes
    std::array<Number, 4> lines{};
    std::uint32_t oldest = 0;
  };
  struct Rank {                 // or several that share a hash, which then guess worse
    std::uint64_t history = 0;  // its last lines, a Number each
    Number expected = 0;
  };

  // What a look at a line may read.
  static constexpr std::size_t kReach = StampShape::kBytesMax + LinePattern::kReach;

  std::size_t add_up_within_reach(std::string_view lines, std::size_t end, const Prefix& prefix,
                                  Counts& counts);
  template <typename Stamp>
  std::size_t add_up_stamped(std::string_view lines, std::size_t end, const Stamp& stamp,
                             std::size_t label_length, Counts& counts);
  struct Found {
    Number number = 0;
    std::size_t length = 0;
  };
  [[gnu::noinline]] Found look_for(std::string_view lines, std::size_t label_length,
                                   std::uint64_t rank_hash);
  void note_miss();
  Number& guess_after(std::uint64_t history);
  void go_on(Rank& rank, Number line);
  Known* place_for(std::uint64_t hash, Number& number);

  ScanEngine engine_ = LiteralScanner::available_engines().back();
  std::vector<Known> lines_;    // the first is none
  std::size_t length_min_ = 0;  // without its stamp
  std::uint32_t passed_over_ = 0;
  std::int32_t misses_ = 0;   // more than finds, of late
  std::int32_t to_skip_ = 0;  // lines that are not looked for: too many were missed
  // All by hash, and empty until a line is learnt.
  std::vector<Set> sets_;
  std::vector<Rank> ranks_;
  std::vector<Number> guesses_;  // by history: what came next
};

}  // namespace llmb::parser
