// Where the scales of MX blocks lie, as tensor cores of sm_100 read them, and so cuBLASLt
// (CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0): one byte for 32 elements of a row, a biased exponent
// (E8M0: 2^(byte - 127), 255 is NaN), in tiles of 128 rows by 4 blocks. A tile's 512 bytes lie
// together, tiles along a row follow one another, and the last ones are whole.
// Source: cuBLAS 13 documentation, "1D Block Scaling Factors Layout"; OCP Microscaling Formats 1.0.
#pragma once

#include <cstdint>

#include "runner/kernels/portable.h"

namespace llmb::runner::kernels {

inline constexpr std::int64_t kMxBlock = 32;  // elements
inline constexpr std::int64_t kMxTileRows = 128;
inline constexpr std::int64_t kMxTileBlocks = 4;
inline constexpr std::int64_t kMxTileBytes = kMxTileRows * kMxTileBlocks;

// Tiles beside each other in a matrix of so many columns.
LLMB_BOTH constexpr std::int64_t mx_tiles_along(std::int64_t cols) {
  constexpr std::int64_t kTileCols = kMxBlock * kMxTileBlocks;
  return (cols + kTileCols - 1) / kTileCols;
}

// Of all scales of a (rows, cols) matrix whose blocks lie along its rows.
LLMB_BOTH constexpr std::int64_t mx_scale_bytes(std::int64_t rows, std::int64_t cols) {
  return (rows + kMxTileRows - 1) / kMxTileRows * mx_tiles_along(cols) * kMxTileBytes;
}

// Of the scale of block `block` of row `row`. In a tile, rows that are 32 apart lie beside each
// other, with their four blocks each.
LLMB_BOTH constexpr std::int64_t mx_scale_offset(std::int64_t row, std::int64_t block,
                                                 std::int64_t tiles_along) {
  constexpr std::int64_t kRowsApart = 32;
  const std::int64_t tile = row / kMxTileRows * tiles_along + block / kMxTileBlocks;
  const std::int64_t row_of_tile = row % kMxTileRows;
  constexpr std::int64_t kGroupBytes = kMxTileRows / kRowsApart * kMxTileBlocks;
  return tile * kMxTileBytes + row_of_tile % kRowsApart * kGroupBytes +
         row_of_tile / kRowsApart * kMxTileBlocks + block % kMxTileBlocks;
}

}  // namespace llmb::runner::kernels
