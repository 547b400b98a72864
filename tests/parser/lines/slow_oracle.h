// What LiteralScanner and LineFilter ought to say, written so plainly that it is easy to believe:
// every position, every literal; one line after the other over the whole log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/lines/literal_scanner.h"

namespace llmb::parser::oracle {

inline std::optional<LiteralScanner::Hit> find(const std::vector<std::string>& literals,
                                               std::string_view block, std::size_t from) {
  for (std::size_t position = from; position < block.size(); ++position) {
    for (std::size_t index = 0; index < literals.size(); ++index) {
      if (block.substr(position).starts_with(literals[index])) {
        return LiteralScanner::Hit{position, index};
      }
    }
  }
  return std::nullopt;
}

struct FoundLine {
  std::string bytes;
  std::uint64_t offset = 0;
  std::size_t first_hit = 0;

  bool operator==(const FoundLine&) const = default;
};

struct FilterOutcome {
  std::vector<FoundLine> lines;
  std::uint64_t committed_offset = 0;
  bool in_dropped_line = false;
  std::int64_t lines_too_long = 0;

  bool operator==(const FilterOutcome&) const = default;
};

// A log of which `log` is all that was written so far, read from its beginning.
inline FilterOutcome filter(const std::vector<std::string>& literals, std::string_view log,
                            std::size_t line_bytes_max, bool finished) {
  FilterOutcome outcome;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= log.size(); ++at) {
    const bool at_end = at == log.size();
    if (!at_end && log[at] != '\n' && log[at] != '\r') continue;
    const std::string_view line = log.substr(begin, at - begin);
    const bool too_long = line.size() > line_bytes_max;
    if (too_long) ++outcome.lines_too_long;
    if (at_end) {
      outcome.in_dropped_line = too_long;
      outcome.committed_offset = too_long ? log.size() : begin;
    }
    const auto hit = find(literals, line, 0);
    if (!too_long && (!at_end || finished) && hit) {
      outcome.lines.push_back({std::string(line), begin, hit->position});
    }
    begin = at + 1;
  }
  return outcome;
}

}  // namespace llmb::parser::oracle
