// head_chunk_rows: how many rows of logits exist at once. The head and the loss go over a
// micro-batch in chunks of so many rows, for the model that runs as for the plan of it.
#pragma once

#include <cstdint>

namespace llmb::runner {

// Of `rows` rows of `columns` logits (a rank's share of the vocabulary) of `value_bytes` each, as
// many as 512 MiB hold, but 1024 at least: all of them, or chunks of even size in steps of 128
// rows, the last of which may be smaller.
//
// Not fewer, because every chunk's gradient of the weight is added to fp32 in memory: with n rows
// that is 2 n FLOP for 8 bytes, and a GPU that does 295 FLOP for each byte it moves (H100, by its
// BF16 peak) wants 1180 rows before the product decides. Llama 3.1's vocabulary has 2048 in BF16.
std::int64_t head_chunk_rows(std::int64_t rows, std::int64_t columns, std::int64_t value_bytes);

}  // namespace llmb::runner
