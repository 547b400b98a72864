// Lines that tell of a checkpoint, as the programs print them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/sign_index.h"

namespace llmb::parser {

// Lines that hold none of these tell of no checkpoint.
std::span<const std::string_view> checkpoint_literals();

struct PrintedCheckpoint {
  CheckpointEvent event;
  // See StepLedger::add_checkpoint.
  bool is_of_next_step = false;
};

// `signs`: of checkpoint_literals() those to try, which are all that the line holds.
std::optional<PrintedCheckpoint> read_checkpoint(const Record& record, SignIndex::Signs signs);

}  // namespace llmb::parser
