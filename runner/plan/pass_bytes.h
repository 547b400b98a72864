// PassBytes: the most that a pass needs while it runs, beside what waits for its backward pass: the
// gradients between the products of one layer, and what was gathered for them. Of the CUDA backend,
// block by block as runner/model holds them.
#pragma once

#include <cstdint>

#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Of a rank that works on `layer`; of the head and the loss, with the logits of a chunk (on the CPU
// too). The FP8 operands of a product count
// beside weights that are kept in FP8, which must leave room for them; else the reserve has them.
// Of them, what attention takes beside its operands: what the device's asked for, else by count.
std::int64_t attention_workspace_bytes(const RunSettings& settings, std::int64_t layer);
std::int64_t layer_pass_bytes(const RunSettings& settings, std::int64_t layer);
std::int64_t head_pass_bytes(const RunSettings& settings);

}  // namespace llmb::runner
