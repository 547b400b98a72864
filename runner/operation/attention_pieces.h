// AttentionPiece: what fused attention is called for: a run of queries that stands at the end of
// the keys that it sees. And the device memory that the way back takes beside its operands, which
// the memory plan counts before any library is asked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runner/operation/attention_shape.h"

namespace llmb::runner {

// Positions [first, first + count) of the sequence.
struct SequencePiece {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool operator==(const SequencePiece&) const = default;
};

// Runs of positions that follow each other.
std::vector<SequencePiece> sequence_pieces(std::span<const std::int64_t> positions);

struct AttentionPiece {
  std::int64_t first_row = 0;  // of the queries, in positions
  std::int64_t query_count = 0;
  std::int64_t first_key = 0;
  std::int64_t key_count = 0;
};

// The pieces, cut where chunks end.
std::vector<AttentionPiece> attention_pieces(std::span<const SequencePiece> pieces,
                                             std::int64_t chunk_size);

// Bytes of what lies between the kernels of one piece's backward graph: the rows' sums, dq in fp32,
// and with grouped queries every head's dk and dv in BF16; each from a multiple of 256 on.
struct BackwardBytes {
  std::int64_t sums = 0;
  std::int64_t dq_sum = 0;
  std::int64_t dk_heads = 0;  // and as many for dv
  std::int64_t total() const { return sums + dq_sum + 2 * dk_heads; }
};
BackwardBytes backward_bytes(const AttentionShape& shape, const AttentionPiece& piece);

// dk and dv of one piece in BF16, where there are several, whose sum is taken; else 0.
std::int64_t piece_gradient_bytes(const AttentionShape& shape,
                                  std::span<const AttentionPiece> pieces, std::int64_t key_count);

// Of a whole backward pass, over keys 0 … key_count - 1, without what a library wants for itself:
// cuDNN 9.19 wants none on sm_90 and sm_100.
std::int64_t attention_workspace_bytes(const AttentionShape& shape,
                                       std::span<const std::int64_t> positions,
                                       std::int64_t key_count);
// The same of the own kernels, and of fp32: a float for each row of each head.
std::int64_t own_attention_workspace_bytes(const AttentionShape& shape, std::int64_t query_count);

// What a backend says of an attention that it has prepared.
struct AttentionUse {
  std::string implementation;  // "cuDNN 9.19.0"
  std::int64_t workspace_bytes = 0;
};

}  // namespace llmb::runner
