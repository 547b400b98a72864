// NcclKnownLines: lines of an NCCL trace as they were read. Ranks make the same calls step after
// step, and but for the digits of counters and buffers their lines are the same: those are told by
// comparing bytes, without a look for their fields. Where there is no room it forgets the oldest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "parser/lines/byte_pattern.h"

namespace llmb::parser {

class NcclKnownLines {
 public:
  // What counts of a call; learn() is given it, and find() gives it back.
  struct Call {
    std::size_t use = 0;
    std::int64_t bytes = 0;
  };
  struct Match {
    std::size_t length = 0;  // of the line with its end; 0: none
    Call call;
  };

  // The line that `lines` begin with, where one like it was learnt. Misses the last few lines.
  // `prefix_length`: what stands there before "NCCL INFO ".
  Match find(std::string_view lines, std::size_t prefix_length) {
    if (lines_.empty() || lines.size() < kReach) return {};
    if (to_skip_ > 0) return {};
    const Match match = look_for(lines, prefix_length);
    note(match.length != 0);
    return match;
  }

  // `line` is one whole call with its end.
  void learn(std::string_view line, std::size_t prefix_length, Call call);

 private:
  using Number = std::uint16_t;  // an index of lines_ plus one; 0: none
  struct Known {
    BytePattern<128> head;  // up to the counter's digits, which come in any number
    BytePattern<256> tail;  // and what follows them
    Call call;
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
  static constexpr std::size_t kReach = 128 + 16 + 256;

  Match look_for(std::string_view lines, std::size_t prefix_length);
  void note(bool is_found);
  std::size_t length_if_like(const Known& known, std::string_view lines) const;
  Number& guess_after(std::uint64_t history);
  void go_on(Rank& rank, Number line);
  Known* place_for(std::uint64_t hash, Number& number);

  PatternMatcher matcher_;
  std::vector<Known> lines_;
  std::uint32_t passed_over_ = 0;
  std::int32_t misses_ = 0;   // more than finds, of late
  std::int32_t to_skip_ = 0;  // lines that are not looked for: too many were missed
  // All by hash, and empty until a line is learnt.
  std::vector<Set> sets_;
  std::vector<Rank> ranks_;
  std::vector<Number> guesses_;  // by history: what came next
};

}  // namespace llmb::parser
