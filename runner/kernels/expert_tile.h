// ExpertTile: which rows a block works on, where rows are those of several experts, and where these
// are once they are transposed. Included by .cu files only.
#pragma once

#include <cstdint>

#include "runner/kernels/device.h"
#include "runner/kernels/device_counts.h"

namespace llmb::runner::kernels {

// Rows of an expert, and which tile of them; no rows where the tile is none of any expert's.
struct ExpertTile {
  std::int64_t expert = 0;
  std::int64_t first_row = 0;
  std::int64_t first_padded = 0;  // of padded_expert_rows
  std::int64_t rows = 0;
  std::int64_t tile = 0;
};

__device__ inline ExpertTile tile_of_experts(const DeviceCounts& counts, std::int64_t tile,
                                             int tile_rows) {
  std::int64_t first = 0;
  std::int64_t first_padded = 0;
  for (std::int64_t expert = 0; expert < counts.experts; ++expert) {
    const std::int64_t rows = counts.of(expert);
    const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
    if (tile < tiles) return {expert, first, first_padded, rows, tile};
    tile -= tiles;
    first += rows;
    first_padded += padded_expert_rows(rows);
  }
  return {};
}

// Its first tile, with no rows where it has none.
__device__ inline ExpertTile rows_of_expert(const DeviceCounts& counts, std::int64_t expert) {
  ExpertTile own;
  own.expert = expert;
  for (std::int64_t before = 0; before < expert; ++before) {
    own.first_row += counts.of(before);
    own.first_padded += padded_expert_rows(counts.of(before));
  }
  own.rows = counts.of(expert);
  return own;
}

template <typename T>
__device__ inline Matrix<T> rows_of(const Matrix<T>& matrix, std::int64_t first,
                                    std::int64_t count) {
  return {matrix.row(first), count, matrix.cols, matrix.stride};
}

}  // namespace llmb::runner::kernels
