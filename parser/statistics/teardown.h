// Teardown: the steps that a run logs while it is being ended. Who ends one from outside says so
// first, and the processes end when they get to it.
#pragma once

#include <cstdint>
#include <optional>

#include "parser/log_facts.h"

namespace llmb::parser {

// Whether `logged_after` steps of a segment may be logged meanwhile, each of which stands for those
// since the one before. `step_time_s`: of the run; nothing where it is not known.
bool is_teardown(std::int64_t logged_after, const SegmentFacts& segment,
                 std::optional<double> step_time_s);

// Whether an event of this cause ends a run that logs steps after it, and that pass may be the one
// that it ended: one that reached its last iteration nobody ended.
bool may_end_over(const LogEvent& event, const SegmentFacts& segment,
                  std::optional<std::int64_t> declared_last_iteration);

}  // namespace llmb::parser
