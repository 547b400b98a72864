#include "runner/kernels/rms_norm.h"

#include "runner/kernels/column_sum.h"
#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

// A block has a row; its second look at the row comes from the cache.
template <typename T>
struct RmsNormForwardKernel {
  static constexpr int kThreadsMax = kThreads;

  RmsNormForward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t row = block_x();
    const T* summed = in.branch.is_given() ? in.sum.row(row) : in.x.row(row);
    float squares = 0;
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      auto x = load<width>(in.x.row(row) + at);
      if (in.branch.is_given()) {
        const auto branch = load<width>(in.branch.row(row) + at);
        for (int i = 0; i < width; ++i) x[i] = rounded<T>(x[i] + branch[i]);
        store(x, in.sum.row(row) + at);
      }
      for (int i = 0; i < width; ++i) squares += x[i] * x[i];
    });
    squares = block_reduce(squares);
    const float scale = rsqrtf(squares / static_cast<float>(in.x.cols) + in.epsilon);
    if (thread_index() == 0) in.scale[row] = scale;
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      auto x = load<width>(summed + at);
      const auto weight = load<width>(in.weight + at);
      for (int i = 0; i < width; ++i) x[i] = x[i] * scale * weight[i];
      store(x, in.y.row(row) + at);
    });
  }
};

// With n = x s, s the scale: dx = s (w dy - n mean(w dy n)). A block has every gridDim.x-th row;
// each of its threads has the same columns of all of them, and their sums of dy n in shared memory.
template <typename T>
struct RmsNormBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  RmsNormBackward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const SharedSpan<float> sums(0, in.x.cols);
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      for (int i = 0; i < width; ++i) sums[spread(width, in.x.cols, at, i)] = 0;
    });
    for (std::int64_t row = block_x(); row < in.x.rows; row += grid_x()) backward(row, sums);
    float* partials = in.partials + block_x() * in.x.cols;
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      for (int i = 0; i < width; ++i) {
        partials[at + i] = sums[spread(width, in.x.cols, at, i)];
      }
    });
  }

  __device__ void backward(std::int64_t row, const SharedSpan<float>& sums) const {
    const float scale = in.scale[row];
    float dot = 0;
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      const auto x = load<width>(in.x.row(row) + at);
      const auto dy = load<width>(in.dy.row(row) + at);
      const auto weight = load<width>(in.weight + at);
      for (int i = 0; i < width; ++i) {
        dot += weight[i] * dy[i] * x[i] * scale;
        sums[spread(width, in.x.cols, at, i)] += dy[i] * x[i] * scale;
      }
    });
    const float mean = block_reduce(dot) / static_cast<float>(in.x.cols);
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      const auto x = load<width>(in.x.row(row) + at);
      const auto dy = load<width>(in.dy.row(row) + at);
      const auto weight = load<width>(in.weight + at);
      Floats<width> dx;
      for (int i = 0; i < width; ++i) {
        dx[i] = scale * (weight[i] * dy[i] - x[i] * scale * mean);
      }
      if (in.bypass.is_given()) {
        const auto bypass = load<width>(in.bypass.row(row) + at);
        for (int i = 0; i < width; ++i) dx[i] += bypass[i];
      }
      store(dx, in.dx.row(row) + at);
    });
  }
};

}  // namespace

template <typename T>
void rms_norm_forward(const RmsNormForward<T>& operands, Stream stream) {
  const bool aligned =
      are_aligned(operands.x, operands.branch, operands.weight, operands.sum, operands.y);
  launch(RmsNormForwardKernel<T>{operands, aligned}, {operands.x.rows}, kThreads, 0, stream);
}

template <typename T>
void rms_norm_backward(const RmsNormBackward<T>& operands, Stream stream) {
  const bool aligned =
      are_aligned(operands.x, operands.weight, operands.dy, operands.bypass, operands.dx);
  const std::int64_t blocks = partial_rows(operands.x.rows);
  const std::int64_t cols = operands.x.cols;
  launch(RmsNormBackwardKernel<T>{operands, aligned}, {blocks}, kThreads,
         static_cast<std::size_t>(cols) * sizeof(float), stream);
  if (blocks > 0) add_column_sums({operands.partials, blocks, cols}, operands.dweight, stream);
}

template void rms_norm_forward(const RmsNormForward<float>&, Stream);
template void rms_norm_forward(const RmsNormForward<Bf16>&, Stream);
template void rms_norm_backward(const RmsNormBackward<float>&, Stream);
template void rms_norm_backward(const RmsNormBackward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
