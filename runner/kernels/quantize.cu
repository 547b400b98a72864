#include "runner/kernels/quantize.h"

#include <cmath>

#include "runner/kernels/device.h"

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

// A block has a tile; a thread has 16 columns of one row of it, and then 16 rows of one column,
// which it finds in shared memory.
template <typename In, typename Out>
struct CastKernel {
  static constexpr int kThreadsMax = kThreads;
  static constexpr int kTile = 64;
  static constexpr int kRun = 16;
  static constexpr int kPitch = kTile + 4;

  Cast<In, Out> in;
  bool reads_aligned;
  bool writes_aligned;
  bool transposed_aligned;

  __device__ void operator()() const {
    __shared__ Shared<Out, kTile * kPitch> tile;
    const std::int64_t first_row = block_x() * kTile;
    const std::int64_t first_col = block_y() * kTile;
    const int outer = thread_index() / (kTile / kRun);
    const int inner = thread_index() % (kTile / kRun) * kRun;
    const float scale = in.scale ? *in.scale : 1.0F;
    Floats<kRun> values = read(first_row + outer, first_col + inner);
    float largest = 0;
    for (int i = 0; i < kRun; ++i) largest = fmaxf(largest, fabsf(values[i]));
    for (int i = 0; i < kRun; ++i) values[i] *= scale;
    if (in.y.is_given()) {
      write(values, in.y, first_row + outer, first_col + inner, writes_aligned);
    }
    if (in.transposed.is_given()) {
      for (int i = 0; i < kRun; ++i) {
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

  // Zeros beyond the matrix.
  __device__ Floats<kRun> read(std::int64_t row, std::int64_t col) const {
    Floats<kRun> values = {};
    if (row >= in.x.rows) return values;
    if (reads_aligned && col + kRun <= in.x.cols) return load<kRun>(in.x.row(row) + col);
    for (int i = 0; i < kRun && col + i < in.x.cols; ++i) {
      values[i] = to_float(in.x.row(row)[col + i]);
    }
    return values;
  }

  __device__ static void write(const Floats<kRun>& values, const Matrix<Out>& out, std::int64_t row,
                               std::int64_t col, bool aligned) {
    if (row >= out.rows) return;
    if (aligned && col + kRun <= out.cols) return store(values, out.row(row) + col);
    for (int i = 0; i < kRun && col + i < out.cols; ++i) {
      out.row(row)[col + i] = from_float<Out>(values[i]);
    }
  }

  __device__ void write_transposed(Shared<Out, kTile * kPitch>& tile, std::int64_t row,
                                   std::int64_t col, int row_of_tile, int col_of_tile) const {
    if (col >= in.transposed.rows) return;
    Packed<Out, kRun> run;
    for (int i = 0; i < kRun; ++i) run.values[i] = tile[col_of_tile * kPitch + row_of_tile + i];
    Out* out = in.transposed.row(col) + row;
    if (transposed_aligned && row + kRun <= in.transposed.cols) {
      constexpr int kStep = kPack<Out>;
      for (int at = 0; at < kRun; at += kStep) {
        Packed<Out, kStep> part;
        for (int i = 0; i < kStep; ++i) part.values[i] = run.values[at + i];
        *reinterpret_cast<Packed<Out, kStep>*>(out + at) = part;
      }
      return;
    }
    for (int i = 0; i < kRun && row + i < in.transposed.cols; ++i) out[i] = run.values[i];
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

// A block has 32 rows and 32 columns. A warp takes rows, its lanes being the columns, and then
// columns, its lanes being the rows.
template <typename In>
struct MxCastKernel {
  static constexpr int kThreadsMax = kThreads;
  static constexpr int kTile = kWarp;
  static constexpr int kPitch = kTile + 1;

  MxCast<In> in;

  __device__ void operator()() const {
    __shared__ Shared<float, kTile * kPitch> tile;
    const std::int64_t first_row = block_x() * kTile;
    const std::int64_t first_col = block_y() * kTile;
    for (int i = warp_index(); i < kTile; i += warp_count()) {
      const std::int64_t row = first_row + i;
      const std::int64_t col = first_col + lane_index();
      const bool is_inside = row < in.x.rows && col < in.x.cols;
      const float value = is_inside ? to_float(in.x.row(row)[col]) : 0.0F;
      tile[i * kPitch + lane_index()] = value;
      quantize(value, in.y, in.exponents, row, col, block_y());
    }
    __syncthreads();
    for (int i = warp_index(); i < kTile; i += warp_count()) {
      const float value = tile[lane_index() * kPitch + i];
      quantize(value, in.transposed, in.transposed_exponents, first_col + i,
               first_row + lane_index(), block_x());
    }
  }

  // The warp's values are a block of a row of `out`.
  __device__ static void quantize(float value, const Matrix<Fp8E4m3>& out,
                                  const Matrix<std::uint8_t>& exponents, std::int64_t row,
                                  std::int64_t col, std::int64_t block) {
    const int exponent = mx_exponent(warp_reduce(fabsf(value), Larger()));
    if (!out.is_given() || row >= out.rows) return;
    if (col < out.cols) out.row(row)[col] = from_float<Fp8E4m3>(mx_scaled(value, exponent));
    if (lane_index() == 0) exponents.row(row)[block] = static_cast<std::uint8_t>(exponent);
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

void fp8_scale(const float* largest, float format_max, float* scale, float* inverse,
               Stream stream) {
  launch(Fp8ScaleKernel{largest, format_max, scale, inverse}, {1}, kWarp, 0, stream);
}

template <typename In, typename Out>
void cast(const Cast<In, Out>& operands, Stream stream) {
  constexpr int kTile = CastKernel<In, Out>::kTile;
  launch(CastKernel<In, Out>{operands, is_aligned(operands.x), is_aligned(operands.y),
                             is_aligned(operands.transposed)},
         {blocks_for(operands.x.rows, kTile), blocks_for(operands.x.cols, kTile)}, kThreads, 0,
         stream);
}

template <typename In>
void mx_cast(const MxCast<In>& operands, Stream stream) {
  launch(MxCastKernel<In>{operands},
         {blocks_for(operands.x.rows, kWarp), blocks_for(operands.x.cols, kWarp)}, kThreads, 0,
         stream);
}

void end_amax_step(const AmaxStep& operands, Stream stream) {
  launch(AmaxStepKernel{operands}, {operands.history.rows}, kThreads, 0, stream);
}

template void absolute_max(Matrix<const float>, float*, Stream);
template void absolute_max(Matrix<const Bf16>, float*, Stream);
template void cast(const Cast<float, Bf16>&, Stream);
template void cast(const Cast<float, Fp8E4m3>&, Stream);
template void cast(const Cast<float, Fp8E5m2>&, Stream);
template void cast(const Cast<Bf16, Bf16>&, Stream);
template void cast(const Cast<Bf16, Fp8E4m3>&, Stream);
template void cast(const Cast<Bf16, Fp8E5m2>&, Stream);
template void mx_cast(const MxCast<float>&, Stream);
template void mx_cast(const MxCast<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
