// Lines that tell of a checkpoint, as NeMo, Megatron-LM and Megatron-Bridge print them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/sign_index.h"

namespace llmb::parser {

// Lines that hold none of these tell of no checkpoint.
std::span<const std::string_view> checkpoint_literals();

// `signs`: of checkpoint_literals() those to try, which are all that the line holds.
std::optional<CheckpointEvent> read_checkpoint(const Record& record, SignIndex::Signs signs);

}  // namespace llmb::parser
