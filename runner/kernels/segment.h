// Segments: stretches of many tensors that one kernel goes through, each block with a piece of one
// of them. A segment type has count, first_block and aligned; place_segments sets the last two.
#pragma once

#include <cstdint>
#include <span>

#include "runner/kernels/matrix.h"

namespace llmb::runner::kernels {

inline constexpr std::int64_t kSegmentPiece = 8192;  // elements of a block

// Gives every segment its blocks, in order, and returns how many there are in all. The segments are
// then copied to the device, where the kernel reads them.
template <typename Segment>
std::int64_t place_segments(std::span<Segment> segments) {
  std::int64_t blocks = 0;
  for (Segment& segment : segments) {
    segment.first_block = blocks;
    segment.aligned = segment.is_aligned();
    blocks += (segment.count + kSegmentPiece - 1) / kSegmentPiece;
  }
  return blocks;
}

// The last one that begins at or before `block`.
template <typename Segment>
LLMB_BOTH const Segment& segment_of_block(const Segment* segments, int count, std::int64_t block) {
  int low = 0;
  int high = count - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (segments[middle].first_block <= block) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return segments[low];
}

}  // namespace llmb::runner::kernels
