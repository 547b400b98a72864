// Steps as a row of step_chunk has them. They can be packed by whoever read them, so that the one
// writer of a database does not have to (step_chunks.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parser/step_sample.h"

namespace llmb::storage {

struct PackedChunk {
  std::int64_t segment = 0;
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  std::int64_t step_count = 0;
  std::uint64_t last_offset = 0;  // in the log, bytes
  std::string packed;             // packed_steps.h, zstd
};

// Of steps that are in their order: each once.
std::vector<PackedChunk> pack_chunks(std::span<const parser::StepSample> samples);

}  // namespace llmb::storage
