// The rows of step_chunk: the steps of settled logs, up to kChunkSteps of a segment in each, packed
// (packed_steps.h) and compressed. A run's chunks hold the first of its steps, in the order of
// their keys; those behind them are rows of step_sample. All functions that change something run
// inside a transaction of the caller's. What does not unpack is a StorageError corrupt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parser/step_sample.h"
#include "parser/window.h"
#include "storage/connection.h"
#include "storage/packed_chunk.h"
#include "storage/push_records.h"
#include "storage/records.h"

namespace llmb::storage {

inline constexpr std::size_t kChunkSteps = 1024;

// Which steps a chunk holds.
struct ChunkRange {
  std::int64_t segment = 0;
  std::int64_t first_iteration = 0;
  std::int64_t last_iteration = 0;
  std::int64_t step_count = 0;

  StepKey last() const { return {segment, last_iteration}; }
};

// Behind all that the run has.
void insert_chunks(Connection& connection, RunId run, std::span<const PackedChunk> chunks);

// Those with a step at `from` or behind it, in their order.
std::vector<ChunkRange> chunks_from(Connection& connection, RunId run, StepKey from);
// The same from the first one on that has a step at that byte of the log or behind it.
std::vector<ChunkRange> chunks_from_offset(Connection& connection, RunId run, std::uint64_t offset);
// Those with a step that may be in the window, in their order. With a segment: of that one.
std::vector<ChunkRange> chunks_in(Connection& connection, RunId run, const parser::Window& window,
                                  std::optional<std::int32_t> segment);
// The last `count` at most, the last one first.
std::vector<ChunkRange> last_chunks(Connection& connection, RunId run, std::int64_t count);
std::vector<parser::StepSample> read_chunk(Connection& connection, RunId run,
                                           const ChunkRange& chunk);

void delete_chunk(Connection& connection, RunId run, const ChunkRange& chunk);
void delete_chunks(Connection& connection, RunId run);

}  // namespace llmb::storage
