// Lines that tell of an evaluation between two steps, or of a profiler, as the programs print them.
// Checkpoints have a reader of their own (checkpoint.h), and lines that their dialect reads anyway
// (torchtitan, Automodel, MLPerf) are told of by its reader.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parser/dialects/dialect.h"
#include "parser/dialects/sign_index.h"

namespace llmb::parser {

// Lines that hold none of these tell of nothing.
std::span<const std::string_view> interruption_literals();

// `signs`: of interruption_literals() those to try, which are all that the line holds.
std::optional<InterruptionSign> read_interruption(const Record& record, SignIndex::Signs signs);

}  // namespace llmb::parser
