// Lines that tell of an evaluation between two steps, or of a profiler, as the programs print them.
// Checkpoints have a reader of their own (checkpoint.h), and lines that their dialect reads anyway
// (torchtitan, Automodel, MLPerf) are told of by its reader.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parser/dialects/dialect.h"

namespace llmb::parser {

// Lines that hold none of these tell of nothing.
std::span<const std::string_view> interruption_literals();

std::optional<InterruptionSign> read_interruption(const Record& record);

}  // namespace llmb::parser
