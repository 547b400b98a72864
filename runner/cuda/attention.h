// Causal attention of the CUDA backend, forward and backward: cuDNN's graph where it serves the
// shape, else the tiled kernels of runner/kernels/attention.h, which are all that the double has.
// BF16 only: with fp32 values the kernels are called directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/kernels/attention.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"
#include "runner/operation/attention_pieces.h"
#include "runner/operation/attention_shape.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// Rows of every matrix are (position, sample), the sample quickest; columns (head, feature).
struct AttentionSizes {
  std::int64_t batch = 1;        // samples
  std::int64_t head_count = 0;   // of q and o
  std::int64_t group_count = 0;  // of k and v; divides head_count
  std::int64_t head_size = 0;    // at most 256
  // Above 0, the sequence falls into chunks of so many positions, and a query sees its own only.
  std::int64_t chunk_size = 0;
  // The queries' positions, in the order of their rows; a context rank has an early and a late
  // piece. Keys and values are positions 0, 1, … key_count - 1.
  std::vector<SequencePiece> query_pieces;
  std::int64_t key_count = 0;

  std::int64_t query_count() const;
  AttentionShape shape() const;
  bool operator==(const AttentionSizes&) const = default;
};

// Throws std::invalid_argument where the sizes contradict each other.
void check(const AttentionSizes& sizes);
// The pieces as a list, one number a query.
std::vector<std::int32_t> query_positions(const AttentionSizes& sizes);

using Bf16Matrix = kernels::Matrix<kernels::Bf16>;
using ConstBf16Matrix = kernels::Matrix<const kernels::Bf16>;

struct AttentionForwardCall {
  ConstBf16Matrix q;  // (sq b, heads d)
  ConstBf16Matrix k;  // (sk b, groups d)
  ConstBf16Matrix v;  // as k
  Bf16Matrix o;       // as q
  // sq b heads floats, for backward of the same Attention: logs of sums of exp(score), in an order
  // of its own.
  float* statistics = nullptr;
};

// dk and dv are overwritten with this rank's queries' part.
struct AttentionBackwardCall {
  ConstBf16Matrix q, k, v, o;
  const float* statistics = nullptr;
  ConstBf16Matrix d_o;
  Bf16Matrix dq, dk, dv;
};

enum class AttentionChoice { best, own_kernels };

// Attention of one set of sizes: what is to be decided is, when it is made. The memory that a call
// needs beside its operands is the caller's. One stream at a time.
class Attention {
 public:
  // Throws std::invalid_argument where the sizes contradict each other.
  explicit Attention(const AttentionSizes& sizes, AttentionChoice choice = AttentionChoice::best);
  ~Attention();
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  // Bytes of device memory that such a call needs until it has run; its pointers are not read. For
  // strides that are new, a plan is made: those of packed matrices have theirs.
  std::int64_t workspace_bytes(const AttentionForwardCall& call);
  std::int64_t workspace_bytes(const AttentionBackwardCall& call);
  // The most that a call with packed matrices needs.
  std::int64_t workspace_bytes_max() const;

  // `workspace` is aligned to 256 bytes.
  void forward(const AttentionForwardCall& call, std::byte* workspace, Stream stream);
  void backward(const AttentionBackwardCall& call, std::byte* workspace, Stream stream);

  // "cuDNN 9.19.0" or "own kernels: " and why.
  const std::string& implementation() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace llmb::runner::cuda
