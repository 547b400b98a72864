// AttentionShape: what causal attention with grouped queries is told of its operands, whatever
// backend computes it.
#pragma once

#include <cstdint>

namespace llmb::runner {

// Rows of every tensor are (position, sample), the sample quickest; columns (head, feature).
struct AttentionShape {
  std::int64_t batch = 0;        // samples
  std::int64_t head_count = 0;   // of q and o
  std::int64_t group_count = 0;  // of k and v; divides head_count
  std::int64_t head_size = 0;
  // Above 0, the sequence falls into chunks of so many positions, and a query sees its own only.
  std::int64_t chunk_size = 0;
  // Probabilities, and their gradients, enter the products as BF16, as fused kernels have them.
  bool bf16_products = false;

  std::int64_t first_visible(std::int64_t position) const {
    return chunk_size > 0 ? position / chunk_size * chunk_size : 0;
  }
};

}  // namespace llmb::runner
