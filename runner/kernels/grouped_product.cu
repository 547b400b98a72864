#include "runner/kernels/grouped_product.h"

#include "runner/kernels/device.h"
#include "runner/kernels/expert_tile.h"
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

// What an expert's product is multiplied by; BF16 has nothing.
__device__ inline float factor_of(const ExpertInverses& inverses, std::int64_t expert) {
  if (inverses.of_rows == nullptr) return 1;
  const std::int64_t at = expert * inverses.stride;
  return inverses.of_rows[at] * inverses.of_weights[at];
}

// What the operands of all experts have in common.
struct Experts {
  DeviceCounts counts;
  ExpertInverses inverses;
};

// d = rows of experts times their matrices. A: rows; B: weights, of the first expert and from there
// on so many elements for each, their k along rows (forward, and in FP8 always) or down columns.
template <typename A, typename B, typename T, KAxis kWeights>
struct RowsKernel {
  static constexpr int kThreadsMax = kProductThreads;
  using Tile = ProductTile<A, B, KAxis::along_rows, kWeights>;

  Experts experts;
  Matrix<const A> rows;
  Matrix<const B> weight;
  std::int64_t weight_step;
  Matrix<T> d;
  std::int64_t tiles_m;
  std::int64_t tiles_n;
  bool aligned;

  __device__ void operator()() const {
    const TilePlace place = place_of_block(tiles_m, tiles_n);
    const ExpertTile own = tile_of_experts(experts.counts, place.m, Tile::kTile);
    if (own.rows == 0) return;
    const Matrix<T> to = rows_of(d, own.first_row, own.rows);
    const Matrix<const B> matrix(weight.data + own.expert * weight_step, weight.rows, weight.cols,
                                 weight.stride);
    Tile tile(rows_of(rows, own.first_row, own.rows), matrix, aligned, own.tile * Tile::kTile,
              place.n * Tile::kTile);
    tile.multiply(rows.cols);
    const float factor = factor_of(experts.inverses, own.expert);
    tile.for_sums([&](std::int64_t row, std::int64_t column, const float* sums) {
      if (row >= to.rows) return;
      for (int i = 0; i < 2; ++i) {
        if (column + i < to.cols) to.row(row)[column + i] = from_float<T>(factor * sums[i]);
      }
    });
  }
};

// An expert's rows as an operand: rows that lie below one another, or, transposed and in pairs,
// side by side.
template <KAxis kAxis, typename Element>
__device__ inline Matrix<const Element> operand_of(const Matrix<const Element>& all,
                                                   const ExpertTile& own) {
  if constexpr (kAxis == KAxis::down_columns) {
    return rows_of(all, own.first_row, own.rows);
  } else {
    return {all.data + own.first_padded / 2, all.rows, padded_expert_rows(own.rows) / 2,
            all.stride};
  }
}

// dW_e += dy_e^T x_e: k is the expert's rows, as they lie (kAxis down columns) or transposed. The
// grid's y is the expert.
template <typename A, typename B, KAxis kAxis>
struct WeightKernel {
  static constexpr int kThreadsMax = kProductThreads;
  using Tile = ProductTile<A, B, kAxis, kAxis>;

  Experts experts;
  Matrix<const A> dy;
  Matrix<const B> x;
  Matrix<float> dweight;  // of one expert; those of the others below it
  std::int64_t tiles_m;
  std::int64_t tiles_n;
  bool aligned;

  __device__ void operator()() const {
    const ExpertTile own = rows_of_expert(experts.counts, block_y());
    if (own.rows == 0) return;
    const TilePlace place = place_of_block(tiles_m, tiles_n);
    const Matrix<float> to = rows_of(dweight, own.expert * dweight.rows, dweight.rows);
    const Matrix<const A> a = operand_of<kAxis>(dy, own);
    Tile tile(a, operand_of<kAxis>(x, own), aligned, place.m * Tile::kTile, place.n * Tile::kTile);
    tile.multiply(kAxis == KAxis::down_columns ? own.rows : a.cols);
    const float factor = factor_of(experts.inverses, own.expert);
    tile.for_sums([&](std::int64_t row, std::int64_t column, const float* sums) {
      if (row >= to.rows) return;
      for (int i = 0; i < 2; ++i) {
        if (column + i < to.cols) to.row(row)[column + i] += factor * sums[i];
      }
    });
  }
};

template <KAxis kWeights, typename A, typename B, typename T>
void launch_rows(const Experts& experts, Matrix<const A> rows, Matrix<const B> weight,
                 std::int64_t weight_step, Matrix<T> d, Stream stream) {
  using Kernel = RowsKernel<A, B, T, kWeights>;
  constexpr std::int64_t kTile = Kernel::Tile::kTile;
  const std::int64_t tiles_m = experts.counts.tiles_max(rows.rows, kTile);
  const std::int64_t tiles_n = blocks_for(d.cols, kTile);
  launch(Kernel{experts, rows, weight, weight_step, d, tiles_m, tiles_n, are_aligned(rows, weight)},
         {tiles_m * tiles_n}, kProductThreads, Kernel::Tile::kSharedBytes, stream);
}

// One expert's part of what lies one below the other.
template <typename T>
Matrix<T> first_of(const Matrix<T>& all, const DeviceCounts& counts) {
  return {all.data, all.rows / counts.experts, all.cols, all.stride};
}

template <KAxis kAxis, typename A, typename B>
void launch_weight(const Experts& experts, Matrix<const A> dy, Matrix<const B> x,
                   Matrix<float> dweight, Stream stream) {
  using Kernel = WeightKernel<A, B, kAxis>;
  const Matrix<float> first = first_of(dweight, experts.counts);
  const std::int64_t tiles_m = blocks_for(first.rows, Kernel::Tile::kTile);
  const std::int64_t tiles_n = blocks_for(first.cols, Kernel::Tile::kTile);
  launch(Kernel{experts, dy, x, first, tiles_m, tiles_n, are_aligned(dy, x)},
         {tiles_m * tiles_n, experts.counts.experts}, kProductThreads, Kernel::Tile::kSharedBytes,
         stream);
}

}  // namespace

template <typename T>
void grouped_forward(const DeviceCounts& counts, Matrix<const T> x, Matrix<const T> weight,
                     Matrix<T> y, Stream stream) {
  const Matrix<const T> first = first_of(weight, counts);
  launch_rows<KAxis::along_rows>({counts, {}}, x, first, first.rows * first.stride, y, stream);
}

template <typename T>
void grouped_backward_input(const DeviceCounts& counts, Matrix<const T> dy, Matrix<const T> weight,
                            Matrix<T> dx, Stream stream) {
  const Matrix<const T> first = first_of(weight, counts);
  launch_rows<KAxis::down_columns>({counts, {}}, dy, first, first.rows * first.stride, dx, stream);
}

template <typename T>
void grouped_backward_weight(const DeviceCounts& counts, Matrix<const T> x, Matrix<const T> dy,
                             Matrix<float> dweight, Stream stream) {
  launch_weight<KAxis::down_columns>({counts, {}}, dy, x, dweight, stream);
}

template <typename T>
void grouped_fp8_forward(const DeviceCounts& counts, const ExpertInverses& inverses,
                         Matrix<const Fp8E4m3> x, Matrix<const Fp8E4m3> weight, Matrix<T> y,
                         Stream stream) {
  const Matrix<const Pair<Fp8E4m3>> first = in_pairs(first_of(weight, counts));
  launch_rows<KAxis::along_rows>({counts, inverses}, in_pairs(x), first, first.rows * first.stride,
                                 y, stream);
}

template <typename T>
void grouped_fp8_backward_input(const DeviceCounts& counts, const ExpertInverses& inverses,
                                Matrix<const Fp8E5m2> dy, Matrix<const Fp8E4m3> weights,
                                Matrix<T> dx, Stream stream) {
  const std::int64_t each = weights.cols / counts.experts;
  const Matrix<const Fp8E4m3> first(weights.data, weights.rows, each, weights.stride);
  launch_rows<KAxis::along_rows>({counts, inverses}, in_pairs(dy), in_pairs(first), each / 2, dx,
                                 stream);
}

void grouped_fp8_backward_weight(const DeviceCounts& counts, const ExpertInverses& inverses,
                                 Matrix<const Fp8E4m3> x, Matrix<const Fp8E5m2> dy,
                                 Matrix<float> dweight, Stream stream) {
  launch_weight<KAxis::along_rows>({counts, inverses}, in_pairs(dy), in_pairs(x), dweight, stream);
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
template void grouped_fp8_forward(const DeviceCounts&, const ExpertInverses&, Matrix<const Fp8E4m3>,
                                  Matrix<const Fp8E4m3>, Matrix<float>, Stream);
template void grouped_fp8_forward(const DeviceCounts&, const ExpertInverses&, Matrix<const Fp8E4m3>,
                                  Matrix<const Fp8E4m3>, Matrix<Bf16>, Stream);
template void grouped_fp8_backward_input(const DeviceCounts&, const ExpertInverses&,
                                         Matrix<const Fp8E5m2>, Matrix<const Fp8E4m3>,
                                         Matrix<float>, Stream);
template void grouped_fp8_backward_input(const DeviceCounts&, const ExpertInverses&,
                                         Matrix<const Fp8E5m2>, Matrix<const Fp8E4m3>, Matrix<Bf16>,
                                         Stream);

}  // namespace llmb::runner::kernels
