// Sums and maxima of equal buffers of several ranks, always in the order given, so that the same
// inputs give the same bits however many threads, processes or hosts hold them.
#pragma once

#include <cstddef>
#include <span>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

// result[i] = sources[0][first + i] op sources[1][first + i] op …, for i < count. `result` may be
// sources[0] + first, and overlaps no other source. A maximum with a NaN among it is NaN.
void reduce_in_order(ReduceOp op, ElementType type, std::span<const void* const> sources,
                     std::size_t first, std::size_t count, void* result);

// The slice of `count` elements that member `index` of `parts` reduces for all.
struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};
Slice slice_of(std::size_t count, int parts, int index);

}  // namespace llmb::runner
