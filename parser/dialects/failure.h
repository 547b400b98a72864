// Lines that say how a run ended: a table of signs, each with the literal that its line holds. A
// new sign is a new row of the table in failure_signs.cpp; a new cause is also one of
// failure_class.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/sign_index.h"

namespace llmb::parser {

struct FailureSign {
  std::string_view cause;
  LogEvent::Kind kind = LogEvent::Kind::failure;
  std::string_view literal;
  // RE2 that the line must match too; empty where the literal says it all.
  std::string_view pattern;
  // The cause by what follows the literal, where it is not always the same; an empty answer is no
  // failure. `cause` is empty then.
  std::string_view (*cause_by)(std::string_view rest) = nullptr;
  // The cause by the whole line; an empty answer is no failure. `cause` is empty then.
  std::string_view (*cause_of_line)(std::string_view line) = nullptr;
  // The line holds these too. Other than the literal they may be as common as they like.
  std::string_view words = {};
};

// In the order in which they are tried: the first that fits names the line.
std::span<const FailureSign> failure_signs();

// The event that a line tells of, if it tells of one. `raw` is the line before it was cleaned: the
// rank stands in the label that cleaning takes off. `signs`: the rows of failure_signs() to try,
// which are all whose literal the line holds.
std::optional<LogEvent> read_failure(const Record& record, std::string_view raw,
                                     SignIndex::Signs signs);

// A failure that the whole line tells of, of this class.
LogEvent failure_of_line(const Record& record, std::string_view raw, std::string_view cause);

// As much of a line as an event keeps: 500 bytes at most, whole characters.
std::string_view shortened_line(std::string_view line);

}  // namespace llmb::parser
