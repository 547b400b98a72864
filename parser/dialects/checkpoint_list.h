// The list of a log's checkpoints in LogFacts: what is told of one save more than once is one
// event, and of many events the first ones and the newest are kept.
#pragma once

#include <cstdint>

#include "parser/dialects/state_text.h"
#include "parser/log_facts.h"

namespace llmb::parser {

// False where it is told already: in other words, by other ranks, or by another process.
// `newest_step`: where the line of the newest step begins.
bool add_to_checkpoints(LogFacts& facts, const CheckpointEvent& event, std::uint64_t newest_step);

// Those over kCheckpointsMax; adding lets the list grow to twice that.
void forget_old_checkpoints(LogFacts& facts);

void save_checkpoints(StateWriter& state, const LogFacts& facts);
void restore_checkpoints(StateReader& state, LogFacts& facts);

}  // namespace llmb::parser
