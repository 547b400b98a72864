#include "runner/kernels/grouped_product.h"

#include "runner/kernels/device.h"
#include "runner/kernels/product_tile.h"

namespace llmb::runner::kernels {
namespace {

// Tiles of m that a band has, through all of n, before the next band begins: what the blocks at
// work read of both operands stays in the cache meanwhile.
constexpr std::int64_t kBand = 16;

struct TilePlace {
  std::int64_t m;
  std::int64_t n;
};
__device__ inline TilePlace place_of_block(std::int64_t tiles_m, std::int64_t tiles_n) {
  const std::int64_t band = block_x() / (kBand * tiles_n);
  const std::int64_t in_band = block_x() % (kBand * tiles_n);
  const std::int64_t left = tiles_m - band * kBand;
  const std::int64_t width = left < kBand ? left : kBand;
  return {band * kBand + in_band % width, in_band / width};
}

// Rows of an expert, and which tile of them; no rows where the tile is none of any expert's.
struct ExpertTile {
  std::int64_t expert = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t tile = 0;
};
__device__ inline ExpertTile tile_of_experts(const DeviceCounts& counts, std::int64_t tile,
                                             int tile_rows) {
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < counts.experts; ++expert) {
    const std::int64_t rows = counts.rows[expert];
    const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
    if (tile < tiles) return {expert, first, rows, tile};
    tile -= tiles;
    first += rows;
  }
  return {};
}

template <typename T>
__device__ inline Matrix<T> rows_of(const Matrix<T>& matrix, std::int64_t first,
                                    std::int64_t count) {
  return {matrix.row(first), count, matrix.cols, matrix.stride};
}

// d = rows of experts times their matrices, whose k lies along rows (forward) or down columns.
template <typename T, KAxis kWeights>
struct RowsKernel {
  static constexpr int kThreadsMax = kProductThreads;
  using Tile = ProductTile<T, KAxis::along_rows, kWeights>;

  DeviceCounts counts;
  Matrix<const T> rows;
  Matrix<const T> weight;
  Matrix<T> d;
  std::int64_t tiles_m;
  std::int64_t tiles_n;
  bool aligned;

  __device__ void operator()() const {
    const TilePlace place = place_of_block(tiles_m, tiles_n);
    const ExpertTile own = tile_of_experts(counts, place.m, Tile::kTile);
    if (own.rows == 0) return;
    const std::int64_t each = weight.rows / counts.experts;
    const Matrix<T> to = rows_of(d, own.first_row, own.rows);
    Tile tile(rows_of(rows, own.first_row, own.rows), rows_of(weight, own.expert * each, each),
              aligned, own.tile * Tile::kTile, place.n * Tile::kTile);
    tile.multiply(rows.cols);
    tile.for_sums([&](std::int64_t row, std::int64_t column, const float* sums) {
      if (row >= to.rows) return;
      for (int i = 0; i < 2; ++i) {
        if (column + i < to.cols) to.row(row)[column + i] = from_float<T>(sums[i]);
      }
    });
  }
};

// dW_e += dy_e^T x_e: k is the expert's rows. The grid's y is the expert.
template <typename T>
struct WeightKernel {
  static constexpr int kThreadsMax = kProductThreads;
  using Tile = ProductTile<T, KAxis::down_columns, KAxis::down_columns>;

  DeviceCounts counts;
  Matrix<const T> x;
  Matrix<const T> dy;
  Matrix<float> dweight;
  std::int64_t tiles_m;
  std::int64_t tiles_n;
  bool aligned;

  __device__ void operator()() const {
    std::int64_t first = 0;
    for (std::int64_t expert = 0; expert < block_y(); ++expert) first += counts.rows[expert];
    const std::int64_t count = counts.rows[block_y()];
    if (count == 0) return;
    const TilePlace place = place_of_block(tiles_m, tiles_n);
    const Matrix<float> to = rows_of(dweight, block_y() * dy.cols, dy.cols);
    Tile tile(rows_of(dy, first, count), rows_of(x, first, count), aligned, place.m * Tile::kTile,
              place.n * Tile::kTile);
    tile.multiply(count);
    tile.for_sums([&](std::int64_t row, std::int64_t column, const float* sums) {
      if (row >= to.rows) return;
      for (int i = 0; i < 2; ++i) {
        if (column + i < to.cols) to.row(row)[column + i] += sums[i];
      }
    });
  }
};

template <typename T, KAxis kWeights>
void launch_rows(const DeviceCounts& counts, Matrix<const T> rows, Matrix<const T> weight,
                 Matrix<T> d, Stream stream) {
  using Kernel = RowsKernel<T, kWeights>;
  constexpr std::int64_t kTile = Kernel::Tile::kTile;
  // Each expert begins a tile of its own.
  const std::int64_t tiles_m = rows.rows == 0 ? 0 : rows.rows / kTile + counts.experts;
  const std::int64_t tiles_n = blocks_for(d.cols, kTile);
  launch(Kernel{counts, rows, weight, d, tiles_m, tiles_n, are_aligned(rows, weight)},
         {tiles_m * tiles_n}, kProductThreads, Kernel::Tile::kSharedBytes, stream);
}

}  // namespace

template <typename T>
void grouped_forward(const DeviceCounts& counts, Matrix<const T> x, Matrix<const T> weight,
                     Matrix<T> y, Stream stream) {
  launch_rows<T, KAxis::along_rows>(counts, x, weight, y, stream);
}

template <typename T>
void grouped_backward_input(const DeviceCounts& counts, Matrix<const T> dy, Matrix<const T> weight,
                            Matrix<T> dx, Stream stream) {
  launch_rows<T, KAxis::down_columns>(counts, dy, weight, dx, stream);
}

template <typename T>
void grouped_backward_weight(const DeviceCounts& counts, Matrix<const T> x, Matrix<const T> dy,
                             Matrix<float> dweight, Stream stream) {
  using Kernel = WeightKernel<T>;
  const std::int64_t tiles_m = blocks_for(dy.cols, Kernel::Tile::kTile);
  const std::int64_t tiles_n = blocks_for(x.cols, Kernel::Tile::kTile);
  launch(Kernel{counts, x, dy, dweight, tiles_m, tiles_n, are_aligned(x, dy)},
         {tiles_m * tiles_n, counts.experts}, kProductThreads, Kernel::Tile::kSharedBytes, stream);
}

template void grouped_forward(const DeviceCounts&, Matrix<const float>, Matrix<const float>,
                              Matrix<float>, Stream);
template void grouped_forward(const DeviceCounts&, Matrix<const Bf16>, Matrix<const Bf16>,
                              Matrix<Bf16>, Stream);
template void grouped_backward_input(const DeviceCounts&, Matrix<const float>, Matrix<const float>,
                                     Matrix<float>, Stream);
template void grouped_backward_input(const DeviceCounts&, Matrix<const Bf16>, Matrix<const Bf16>,
                                     Matrix<Bf16>, Stream);
template void grouped_backward_weight(const DeviceCounts&, Matrix<const float>, Matrix<const float>,
                                      Matrix<float>, Stream);
template void grouped_backward_weight(const DeviceCounts&, Matrix<const Bf16>, Matrix<const Bf16>,
                                      Matrix<float>, Stream);

}  // namespace llmb::runner::kernels
