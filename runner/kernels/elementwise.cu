#include "runner/kernels/elementwise.h"

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kSumThreads = 1024;
constexpr std::int64_t kColumnsPerBlock = 8192;

// A matrix without gaps is one long row.
template <typename T>
Matrix<T> flattened(const Matrix<T>& matrix) {
  return {matrix.data, 1, matrix.size()};
}
template <typename T>
bool has_gaps(const Matrix<T>& matrix) {
  return matrix.rows > 1 && matrix.stride != matrix.cols;
}

// Blocks share out rows, and pieces of long rows.
struct Piece {
  std::int64_t row, begin, count;

  __device__ static Piece of_block(std::int64_t cols) {
    const std::int64_t pieces = (cols + kColumnsPerBlock - 1) / kColumnsPerBlock;
    const std::int64_t begin = block_x() % pieces * kColumnsPerBlock;
    const std::int64_t left = cols - begin;
    return {block_x() / pieces, begin, left < kColumnsPerBlock ? left : kColumnsPerBlock};
  }
};
template <typename T>
Grid grid_for(const Matrix<T>& matrix) {
  return {matrix.rows * blocks_for(matrix.cols, kColumnsPerBlock)};
}

template <typename T>
struct FillKernel {
  static constexpr int kThreadsMax = kThreads;

  float value;
  Matrix<T> y;
  bool aligned;

  __device__ void operator()() const {
    const Piece piece = Piece::of_block(y.cols);
    sweep<T>(piece.count, aligned, [&](auto width, std::int64_t at) {
      Floats<width> values;
      for (int i = 0; i < width; ++i) values[i] = value;
      store(values, y.row(piece.row) + piece.begin + at);
    });
  }
};

template <typename In, typename Out>
struct ScaledCopyKernel {
  static constexpr int kThreadsMax = kThreads;

  ScaledCopy<In, Out> in;
  bool aligned;

  __device__ void operator()() const {
    const Piece piece = Piece::of_block(in.y.cols);
    const In* x = in.x.row(piece.row) + piece.begin;
    Out* y = in.y.row(piece.row) + piece.begin;
    const float factor = in.device_factor ? in.factor * *in.device_factor : in.factor;
    using Narrow = std::conditional_t<(sizeof(In) < sizeof(Out)), In, Out>;
    sweep<Narrow>(piece.count, aligned, [&](auto width, std::int64_t at) {
      auto values = load<width>(x + at);
      for (int i = 0; i < width; ++i) values[i] *= factor;
      if (in.addend.is_given()) {
        const auto more = load<width>(in.addend.row(piece.row) + piece.begin + at);
        for (int i = 0; i < width; ++i) values[i] += more[i];
      }
      store(values, y + at);
    });
  }
};

template <typename T>
struct SumKernel {
  static constexpr int kThreadsMax = kSumThreads;

  const T* x;
  std::int64_t count;
  double* total;
  bool adds;

  __device__ void operator()() const {
    double sum = 0;
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      sum += static_cast<double>(x[i]);
    }
    sum = block_reduce(sum);
    if (thread_index() == 0) *total = adds ? *total + sum : sum;
  }
};

}  // namespace

template <typename T>
void fill(float value, Matrix<T> y, Stream stream) {
  const Matrix<T> flat = has_gaps(y) ? y : flattened(y);
  launch(FillKernel<T>{value, flat, is_aligned(flat)}, grid_for(flat), kThreads, 0, stream);
}

template <typename In, typename Out>
void scaled_copy(const ScaledCopy<In, Out>& operands, Stream stream) {
  ScaledCopy<In, Out> flat = operands;
  if (!has_gaps(flat.x) && !has_gaps(flat.y) && !has_gaps(flat.addend)) {
    flat.x = flattened(flat.x);
    flat.y = flattened(flat.y);
    if (flat.addend.is_given()) flat.addend = flattened(flat.addend);
  }
  launch(ScaledCopyKernel<In, Out>{flat, are_aligned(flat.x, flat.y, flat.addend)},
         grid_for(flat.y), kThreads, 0, stream);
}

template <typename T>
void sum_values(const T* x, std::int64_t count, double* total, bool adds, Stream stream) {
  launch(SumKernel<T>{x, count, total, adds}, {1}, kSumThreads, 0, stream);
}

template void fill(float, Matrix<float>, Stream);
template void fill(float, Matrix<Bf16>, Stream);
template void scaled_copy(const ScaledCopy<float, float>&, Stream);
template void scaled_copy(const ScaledCopy<float, Bf16>&, Stream);
template void scaled_copy(const ScaledCopy<Bf16, float>&, Stream);
template void scaled_copy(const ScaledCopy<Bf16, Bf16>&, Stream);
template void sum_values(const float*, std::int64_t, double*, bool, Stream);
template void sum_values(const double*, std::int64_t, double*, bool, Stream);

}  // namespace llmb::runner::kernels
