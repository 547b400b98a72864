#include "runner/kernels/quantize.h"

#include <cmath>

#include "runner/kernels/device.h"
#include "runner/kernels/expert_tile.h"
#include "runner/kernels/mx_scales.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

// Numbers that are not negative are ordered as their bits are.
__device__ void atomic_max(float* address, float value) {
  atomicMax(reinterpret_cast<unsigned*>(address), __float_as_uint(value));
}

__device__ float scale_for(float largest, float format_max) {
  return largest > 0 && largest < INFINITY ? format_max / largest : 1.0F;
}

template <typename In>
struct AbsoluteMaxKernel {
  static constexpr int kThreadsMax = kThreads;

  Matrix<const In> x;
  float* largest;
  bool aligned;

  __device__ void operator()() const {
    float own = 0;
    for (std::int64_t row = block_x(); row < x.rows; row += grid_x()) {
      sweep<In>(x.cols, aligned, [&](auto width, std::int64_t at) {
        const auto values = load<width>(x.row(row) + at);
        for (int i = 0; i < width; ++i) own = fmaxf(own, fabsf(values[i]));
      });
    }
    own = block_reduce(own, Larger());
    if (thread_index() == 0) atomic_max(largest, own);
  }
};

template <typename In>
struct ExpertMaxKernel {
  static constexpr int kThreadsMax = kThreads;
  static constexpr int kTileRows = 16;

  ScaledRows rows;
  Matrix<const In> x;
  float* largest;
  bool aligned;

  __device__ void operator()() const {
    const ExpertTile own = tile_of_experts(rows.counts, block_x(), kTileRows);
    if (own.rows == 0) return;
    const std::int64_t begin = own.tile * kTileRows;
    const std::int64_t end = begin + kTileRows < own.rows ? begin + kTileRows : own.rows;
    float here = 0;
    for (std::int64_t row = own.first_row + begin; row < own.first_row + end; ++row) {
      sweep<In>(x.cols, aligned, [&](auto width, std::int64_t at) {
        const auto values = load<width>(x.row(row) + at);
        for (int i = 0; i < width; ++i) here = fmaxf(here, fabsf(values[i]));
      });
    }
    here = block_reduce(here, Larger());
    if (thread_index() == 0) atomic_max(largest + own.expert * rows.stride, here);
  }
};

struct ExpertScalesKernel {
  static constexpr int kThreadsMax = kWarp;

  ExpertScales experts;
  float format_max;

  __device__ void operator()() const {
    for (std::int64_t i = thread_index(); i < experts.count; i += thread_count()) {
      const std::int64_t at = i * experts.stride;
      const float scale = scale_for(experts.largest[at], format_max);
      experts.scale[at] = scale;
      experts.inverse[i * experts.inverse_stride] = 1.0F / scale;
      experts.largest[at] = 0;
    }
  }
};

struct Fp8ScaleKernel {
  static constexpr int kThreadsMax = kWarp;

  const float* largest;
  float format_max;
  float* scale;
  float* inverse;

  __device__ void operator()() const {
    if (thread_index() != 0) return;
    *scale = scale_for(*largest, format_max);
    *inverse = 1.0F / *scale;
  }
};

// Casts share a matrix out in tiles, one for a block; a thread has 16 columns of one row of it, and
// then 16 rows of one column, which it finds in shared memory.
constexpr int kCastTile = 64;
constexpr int kCastRun = 16;

struct PlaceOfRun {
  int outer = thread_index() / (kCastTile / kCastRun);
  int inner = thread_index() % (kCastTile / kCastRun) * kCastRun;
};

// Zeros beyond the matrix.
template <typename In>
__device__ Floats<kCastRun> read_run(const Matrix<const In>& x, bool aligned, std::int64_t row,
                                     std::int64_t col) {
  Floats<kCastRun> values = {};
  if (row >= x.rows) return values;
  if (aligned && col + kCastRun <= x.cols) return load<kCastRun>(x.row(row) + col);
  for (int i = 0; i < kCastRun && col + i < x.cols; ++i) values[i] = to_float(x.row(row)[col + i]);
  return values;
}

template <typename Out>
__device__ void write_run(const Floats<kCastRun>& values, const Matrix<Out>& out, bool aligned,
                          std::int64_t row, std::int64_t col) {
  if (row >= out.rows) return;
  if (aligned && col + kCastRun <= out.cols) return store(values, out.row(row) + col);
  for (int i = 0; i < kCastRun && col + i < out.cols; ++i) {
    out.row(row)[col + i] = from_float<Out>(values[i]);
  }
}

__device__ float largest_of(const Floats<kCastRun>& values) {
  float largest = 0;
  for (int i = 0; i < kCastRun; ++i) largest = fmaxf(largest, fabsf(values[i]));
  return largest;
}

template <typename In, typename Out>
struct CastTile {
  static constexpr int kPitch = kCastTile + 4;

  Cast<In, Out> in;
  bool reads_aligned;
  bool writes_aligned;
  bool transposed_aligned;

  // The tile that begins there, by all threads of the block.
  __device__ void write(std::int64_t first_row, std::int64_t first_col) const {
    __shared__ Shared<Out, kCastTile * kPitch> tile;
    const auto [outer, inner] = PlaceOfRun();
    const float scale = in.scale ? *in.scale : 1.0F;
    Floats<kCastRun> values = read_run(in.x, reads_aligned, first_row + outer, first_col + inner);
    float largest = largest_of(values);
    for (int i = 0; i < kCastRun; ++i) values[i] *= scale;
    if (in.y.is_given()) {
      write_run(values, in.y, writes_aligned, first_row + outer, first_col + inner);
    }
    if (in.transposed.is_given()) {
      for (int i = 0; i < kCastRun; ++i) {
        tile[(inner + i) * kPitch + outer] = from_float<Out>(values[i]);
      }
      __syncthreads();
      write_transposed(tile, first_row + inner, first_col + outer, inner, outer);
    }
    if (in.largest) {
      largest = block_reduce(largest, Larger());
      if (thread_index() == 0) atomic_max(in.largest, largest);
    }
  }

  __device__ void write_transposed(Shared<Out, kCastTile * kPitch>& tile, std::int64_t row,
                                   std::int64_t col, int row_of_tile, int col_of_tile) const {
    if (col >= in.transposed.rows) return;
    Packed<Out, kCastRun> run;
    for (int i = 0; i < kCastRun; ++i) {
      run.values[i] = tile[col_of_tile * kPitch + row_of_tile + i];
    }
    Out* out = in.transposed.row(col) + row;
    if (transposed_aligned && row + kCastRun <= in.transposed.cols) {
      constexpr int kStep = kPack<Out>;
      for (int at = 0; at < kCastRun; at += kStep) {
        Packed<Out, kStep> part;
        for (int i = 0; i < kStep; ++i) part.values[i] = run.values[at + i];
        *reinterpret_cast<Packed<Out, kStep>*>(out + at) = part;
      }
      return;
    }
    for (int i = 0; i < kCastRun && row + i < in.transposed.cols; ++i) out[i] = run.values[i];
  }
};

template <typename In, typename Out>
struct CastKernel {
  static constexpr int kThreadsMax = kThreads;

  CastTile<In, Out> whole;

  __device__ void operator()() const { whole.write(block_x() * kCastTile, block_y() * kCastTile); }
};

template <typename In, typename Out>
struct ExpertCastKernel {
  static constexpr int kThreadsMax = kThreads;

  ScaledRows rows;
  CastTile<In, Out> all;

  __device__ void operator()() const {
    const ExpertTile own = tile_of_experts(rows.counts, block_x(), kCastTile);
    if (own.rows == 0) return;
    CastTile<In, Out> its = all;
    its.in.x = rows_of(all.in.x, own.first_row, own.rows);
    if (all.in.y.is_given()) its.in.y = rows_of(all.in.y, own.first_row, own.rows);
    if (all.in.transposed.is_given()) {
      its.in.transposed = {all.in.transposed.data + own.first_padded, all.in.transposed.rows,
                           padded_expert_rows(own.rows), all.in.transposed.stride};
    }
    its.in.scale = all.in.scale + own.expert * rows.stride;
    if (all.in.largest) its.in.largest = all.in.largest + own.expert * rows.stride;
    its.write(own.tile * kCastTile, block_y() * kCastTile);
  }
};

// The biased exponent of the power of two that brings a block's largest element to 448 = 1.75 * 2^8
// at most.
__device__ int mx_exponent(float largest) {
  if (!(largest > 0) || !(largest < INFINITY)) return 127;  // a factor of one
  const unsigned bits = __float_as_uint(largest);
  const int exponent = static_cast<int>(bits >> 23) - 127 - 8 + ((bits & 0x7fffffU) > 0x600000U);
  return (exponent < -127 ? -127 : exponent) + 127;
}

// x / 2^(exponent - 127), in two exact steps, for the factor alone may be no normal number.
__device__ float mx_scaled(float x, int exponent) {
  const int power = 127 - exponent;
  const int half = power / 2;
  const float first = __uint_as_float(static_cast<unsigned>(half + 127) << 23);
  const float second = __uint_as_float(static_cast<unsigned>(power - half + 127) << 23);
  return x * first * second;
}

// Two threads beside each other have a block of 32 elements.
template <typename In>
struct MxCastKernel {
  static constexpr int kThreadsMax = kThreads;
  static constexpr int kPitch = kCastTile + 1;  // threads beside each other use other banks

  MxCast<In> in;
  bool reads_aligned;
  bool writes_aligned;
  bool transposed_aligned;

  __device__ void operator()() const {
    __shared__ Shared<In, kCastTile * kPitch> tile;
    const std::int64_t first_row = block_x() * kCastTile;
    const std::int64_t first_col = block_y() * kCastTile;
    const auto [outer, inner] = PlaceOfRun();
    Floats<kCastRun> values = read_run(in.x, reads_aligned, first_row + outer, first_col + inner);
    if (in.y.is_given()) {
      quantize(values, in.y, in.scales, writes_aligned, first_row + outer, first_col + inner);
    }
    if (!in.transposed.is_given()) return;
    for (int i = 0; i < kCastRun; ++i) {
      tile[(inner + i) * kPitch + outer] = from_float<In>(values[i]);
    }
    __syncthreads();
    for (int i = 0; i < kCastRun; ++i) values[i] = to_float(In(tile[outer * kPitch + inner + i]));
    quantize(values, in.transposed, in.transposed_scales, transposed_aligned, first_col + outer,
             first_row + inner);
  }

  __device__ static void quantize(const Floats<kCastRun>& values, const Matrix<Fp8E4m3>& out,
                                  std::uint8_t* scales, bool aligned, std::int64_t row,
                                  std::int64_t col) {
    const float own = largest_of(values);
    const int exponent = mx_exponent(fmaxf(own, __shfl_xor_sync(0xffffffffU, own, 1)));
    Floats<kCastRun> scaled;
    for (int i = 0; i < kCastRun; ++i) scaled[i] = mx_scaled(values[i], exponent);
    write_run(scaled, out, aligned, row, col);
    if (row < out.rows && col < out.cols && col % kMxBlock == 0) {
      scales[mx_scale_offset(row, col / kMxBlock, mx_tiles_along(out.cols))] =
          static_cast<std::uint8_t>(exponent);
    }
  }
};

struct AmaxStepKernel {
  static constexpr int kThreadsMax = kThreads;

  AmaxStep in;

  __device__ void operator()() const {
    const std::int64_t matrix = block_x();
    float* history = in.history.row(matrix);
    const std::int64_t length = in.history.cols;
    const std::int64_t newest = in.step % length;
    const std::int64_t known = in.step < length ? in.step + 1 : length;
    const float step_max = in.step_maxima[matrix];
    float largest = step_max;
    for (std::int64_t i = thread_index(); i < known; i += thread_count()) {
      if (i != newest) largest = fmaxf(largest, history[i]);
    }
    largest = block_reduce(largest, Larger());
    if (thread_index() != 0) return;
    history[newest] = step_max;
    in.step_maxima[matrix] = 0;
    in.scales[matrix] = scale_for(largest, in.format_maxima[matrix]);
    in.inverses[matrix] = 1.0F / in.scales[matrix];
  }
};

}  // namespace

template <typename In>
void absolute_max(Matrix<const In> x, float* largest, Stream stream) {
  constexpr std::int64_t kBlocksMax = 1024;
  launch(AbsoluteMaxKernel<In>{x, largest, is_aligned(x)},
         {x.rows < kBlocksMax ? x.rows : kBlocksMax}, kThreads, 0, stream);
}

template <typename In>
void absolute_max(const ScaledRows& rows, Matrix<const In> x, float* largest, Stream stream) {
  using Kernel = ExpertMaxKernel<In>;
  launch(Kernel{rows, x, largest, is_aligned(x)},
         {rows.counts.tiles_max(x.rows, Kernel::kTileRows)}, kThreads, 0, stream);
}

void fp8_scales(const ExpertScales& experts, float format_max, Stream stream) {
  launch(ExpertScalesKernel{experts, format_max}, {1}, kWarp, 0, stream);
}

void fp8_scale(const float* largest, float format_max, float* scale, float* inverse,
               Stream stream) {
  launch(Fp8ScaleKernel{largest, format_max, scale, inverse}, {1}, kWarp, 0, stream);
}

namespace {

template <typename In, typename Out>
CastTile<In, Out> tile_of(const Cast<In, Out>& operands) {
  return {operands, is_aligned(operands.x), is_aligned(operands.y),
          is_aligned(operands.transposed)};
}

}  // namespace

template <typename In, typename Out>
void cast(const Cast<In, Out>& operands, Stream stream) {
  launch(CastKernel<In, Out>{tile_of(operands)},
         {blocks_for(operands.x.rows, kCastTile), blocks_for(operands.x.cols, kCastTile)}, kThreads,
         0, stream);
}

template <typename In, typename Out>
void cast(const ScaledRows& rows, const Cast<In, Out>& operands, Stream stream) {
  launch(
      ExpertCastKernel<In, Out>{rows, tile_of(operands)},
      {rows.counts.tiles_max(operands.x.rows, kCastTile), blocks_for(operands.x.cols, kCastTile)},
      kThreads, 0, stream);
}

template <typename In>
void mx_cast(const MxCast<In>& operands, Stream stream) {
  launch(MxCastKernel<In>{operands, is_aligned(operands.x), is_aligned(operands.y),
                          is_aligned(operands.transposed)},
         {blocks_for(operands.x.rows, kCastTile), blocks_for(operands.x.cols, kCastTile)}, kThreads,
         0, stream);
}

void end_amax_step(const AmaxStep& operands, Stream stream) {
  launch(AmaxStepKernel{operands}, {operands.history.rows}, kThreads, 0, stream);
}

template void absolute_max(Matrix<const float>, float*, Stream);
template void absolute_max(Matrix<const Bf16>, float*, Stream);
template void absolute_max(const ScaledRows&, Matrix<const float>, float*, Stream);
template void absolute_max(const ScaledRows&, Matrix<const Bf16>, float*, Stream);
template void cast(const ScaledRows&, const Cast<float, Fp8E4m3>&, Stream);
template void cast(const ScaledRows&, const Cast<float, Fp8E5m2>&, Stream);
template void cast(const ScaledRows&, const Cast<Bf16, Fp8E4m3>&, Stream);
template void cast(const ScaledRows&, const Cast<Bf16, Fp8E5m2>&, Stream);
template void cast(const Cast<float, Bf16>&, Stream);
template void cast(const Cast<float, Fp8E4m3>&, Stream);
template void cast(const Cast<float, Fp8E5m2>&, Stream);
template void cast(const Cast<Bf16, Bf16>&, Stream);
template void cast(const Cast<Bf16, Fp8E4m3>&, Stream);
template void cast(const Cast<Bf16, Fp8E5m2>&, Stream);
template void mx_cast(const MxCast<float>&, Stream);
template void mx_cast(const MxCast<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
