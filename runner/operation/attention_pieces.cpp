#include "runner/operation/attention_pieces.h"

#include <algorithm>

namespace llmb::runner {
namespace {

constexpr std::int64_t kBf16Bytes = 2;
constexpr std::int64_t kFloatBytes = 4;

std::int64_t aligned(std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::vector<SequencePiece> sequence_pieces(std::span<const std::int64_t> positions) {
  std::vector<SequencePiece> pieces;
  for (const std::int64_t position : positions) {
    if (pieces.empty() || pieces.back().first + pieces.back().count != position) {
      pieces.push_back({position, 0});
    }
    ++pieces.back().count;
  }
  return pieces;
}

std::vector<AttentionPiece> attention_pieces(std::span<const SequencePiece> pieces,
                                             std::int64_t chunk_size) {
  std::vector<AttentionPiece> cut;
  std::int64_t row = 0;
  for (const SequencePiece& piece : pieces) {
    const std::int64_t end = piece.first + piece.count;
    for (std::int64_t begin = piece.first; begin < end;) {
      const std::int64_t chunk = chunk_size > 0 ? begin / chunk_size : 0;
      const std::int64_t first_key = chunk * chunk_size;
      const std::int64_t stop = chunk_size > 0 ? std::min(end, first_key + chunk_size) : end;
      cut.push_back({row, stop - begin, first_key, stop - first_key});
      row += stop - begin;
      begin = stop;
    }
  }
  return cut;
}

BackwardBytes backward_bytes(const AttentionShape& shape, const AttentionPiece& piece) {
  const std::int64_t rows = shape.batch * shape.head_count * piece.query_count;
  BackwardBytes bytes;
  bytes.sums = aligned(rows * kFloatBytes);
  bytes.dq_sum = aligned(rows * shape.head_size * kFloatBytes);
  if (shape.group_count != shape.head_count) {
    bytes.dk_heads =
        aligned(shape.batch * shape.head_count * piece.key_count * shape.head_size * kBf16Bytes);
  }
  return bytes;
}

std::int64_t piece_gradient_bytes(const AttentionShape& shape,
                                  std::span<const AttentionPiece> pieces, std::int64_t key_count) {
  if (pieces.size() < 2) return 0;
  return 2 * aligned(key_count * shape.batch * shape.group_count * shape.head_size * kBf16Bytes);
}

std::int64_t attention_workspace_bytes(const AttentionShape& shape,
                                       std::span<const std::int64_t> positions,
                                       std::int64_t key_count) {
  const auto pieces = attention_pieces(sequence_pieces(positions), shape.chunk_size);
  std::int64_t most = 0;
  for (const AttentionPiece& piece : pieces) {
    most = std::max(most, backward_bytes(shape, piece).total());
  }
  return most + piece_gradient_bytes(shape, pieces, key_count);
}

std::int64_t own_attention_workspace_bytes(const AttentionShape& shape, std::int64_t query_count) {
  return shape.batch * query_count * shape.head_count * kFloatBytes;
}

}  // namespace llmb::runner
