#include <fmt/format.h>

#include <stdexcept>

#include "runner/cuda/attention.h"

namespace llmb::runner::cuda {

std::int64_t AttentionSizes::query_count() const {
  std::int64_t count = 0;
  for (const SequencePiece& piece : query_pieces) count += piece.count;
  return count;
}

AttentionShape AttentionSizes::shape() const {
  return {.batch = batch,
          .head_count = head_count,
          .group_count = group_count,
          .head_size = head_size,
          .chunk_size = chunk_size};
}

void check(const AttentionSizes& sizes) {
  const auto require = [&](bool holds, const char* rule) {
    if (holds) return;
    throw std::invalid_argument(fmt::format(
        "An attention that cannot be: {} (batch {}, heads {} in {} groups of {}, {} queries, {} "
        "keys, chunks of {}).",
        rule, sizes.batch, sizes.head_count, sizes.group_count, sizes.head_size,
        sizes.query_count(), sizes.key_count, sizes.chunk_size));
  };
  require(sizes.batch > 0 && sizes.key_count > 0, "there is something to attend to");
  require(sizes.group_count > 0 && sizes.head_count % sizes.group_count == 0,
          "the groups divide the heads");
  require(sizes.head_size > 0 && sizes.head_size <= kernels::kHeadSizeMax,
          "a head has 1 to 256 features");
  require(sizes.chunk_size >= 0, "no chunk is negative");
  std::int64_t end = 0;
  for (const SequencePiece& piece : sizes.query_pieces) {
    require(piece.first >= end && piece.count > 0, "pieces rise, and are not empty");
    end = piece.first + piece.count;
  }
  require(end <= sizes.key_count, "no query stands behind the last key");
}

std::vector<std::int32_t> query_positions(const AttentionSizes& sizes) {
  std::vector<std::int32_t> positions;
  for (const SequencePiece& piece : sizes.query_pieces) {
    for (std::int64_t i = 0; i < piece.count; ++i) {
      positions.push_back(static_cast<std::int32_t>(piece.first + i));
    }
  }
  return positions;
}

}  // namespace llmb::runner::cuda
