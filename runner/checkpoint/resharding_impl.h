// The definitions of resharding.h: included where a backend is put together, once.
#pragma once

#include <algorithm>

#include "runner/checkpoint/resharding.h"

namespace llmb::runner {

template <typename Backend>
Stretch stretch_in_share(const LocalParameter<Backend>& local, std::int64_t share_first,
                         std::int64_t share_count) {
  const std::int64_t begin = std::max(local.block_offset, share_first);
  const std::int64_t end =
      std::min(local.block_offset + local.element_count(), share_first + share_count);
  if (begin >= end) return {};
  return {begin - local.block_offset, end - begin};
}

template <typename Backend>
bool may_overlap(const ShardPiece& piece, const LocalParameter<Backend>& local) {
  for (std::size_t axis = 0; axis < local.local_shape.size(); ++axis) {
    const std::int64_t begin = std::max(piece.origin[axis], local.origin[axis]);
    const std::int64_t end = std::min(piece.origin[axis] + piece.local_shape[axis],
                                      local.origin[axis] + local.local_shape[axis]);
    if (begin >= end) return false;
  }
  return true;
}

template <typename Backend>
std::int64_t copy_overlap(const ShardPiece& piece,
                          std::span<const typename Backend::Master> elements,
                          const LocalParameter<Backend>& local, const Stretch& wanted,
                          std::span<typename Backend::Master> into) {
  const std::size_t last = piece.local_shape.size() - 1;
  const std::int64_t row_length = piece.local_shape[last];
  const std::int64_t local_row_length = local.local_shape[last];
  std::int64_t copied = 0;
  std::int64_t run = 0;
  // Along the last axis both parts are contiguous: go through the piece run by run.
  for (std::int64_t at = piece.first; at < piece.first + piece.count; at += run) {
    const std::int64_t column = at % row_length;
    run = std::min(row_length - column, piece.first + piece.count - at);
    std::int64_t rest = at / row_length;
    std::int64_t local_row = 0;
    std::int64_t stride = 1;
    bool is_inside = true;
    for (std::size_t axis = last; axis-- > 0;) {
      const std::int64_t index =
          rest % piece.local_shape[axis] + piece.origin[axis] - local.origin[axis];
      rest /= piece.local_shape[axis];
      is_inside = is_inside && index >= 0 && index < local.local_shape[axis];
      local_row += index * stride;
      stride *= local.local_shape[axis];
    }
    if (!is_inside) continue;
    // Of the run, in elements of the local part: columns first, then what is wanted of them.
    const std::int64_t shift = column + piece.origin[last] - local.origin[last];
    const std::int64_t begin =
        std::max({std::int64_t{0}, -shift, wanted.first - (local_row * local_row_length + shift)});
    const std::int64_t end =
        std::min({run, local_row_length - shift,
                  wanted.first + wanted.count - (local_row * local_row_length + shift)});
    if (begin >= end) continue;
    const std::int64_t target = local_row * local_row_length + shift + begin - wanted.first;
    const auto from = elements.begin() + (at - piece.first + begin);
    std::copy(from, from + (end - begin), into.begin() + target);
    copied += end - begin;
  }
  return copied;
}

}  // namespace llmb::runner
