#include "runner/kernels/column_sum.h"
#include "runner/kernels/device.h"
#include "runner/kernels/layer_norm_1p.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

// A block has a row; the second and third look at it come from the cache.
template <typename T>
struct LayerNorm1pForwardKernel {
  static constexpr int kThreadsMax = kThreads;

  LayerNorm1pForward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t row = block_x();
    const T* summed = in.branch.is_given() ? in.sum.row(row) : in.x.row(row);
    const auto count = static_cast<float>(in.x.cols);
    float sum = 0;
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      auto x = load<width>(in.x.row(row) + at);
      if (in.branch.is_given()) {
        const auto branch = load<width>(in.branch.row(row) + at);
        for (int i = 0; i < width; ++i) x[i] = rounded<T>(x[i] + branch[i]);
        store(x, in.sum.row(row) + at);
      }
      for (int i = 0; i < width; ++i) sum += x[i];
    });
    const float mean = block_reduce(sum) / count;
    float squares = 0;
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      const auto x = load<width>(summed + at);
      for (int i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
    });
    const float scale = rsqrtf(block_reduce(squares) / count + in.epsilon);
    if (thread_index() == 0) {
      in.statistics[2 * row] = mean;
      in.statistics[2 * row + 1] = scale;
    }
    sweep<T>(in.x.cols, aligned, [&](auto width, std::int64_t at) {
      auto x = load<width>(summed + at);
      const auto weight = load<width>(in.weight + at);
      const auto bias = load<width>(in.bias + at);
      for (int i = 0; i < width; ++i) {
        x[i] = (x[i] - mean) * scale * (1.0F + weight[i]) + bias[i];
      }
      store(x, in.y.row(row) + at);
    });
  }
};

// With n = (x - mean) s and g = (1 + w) dy: dx = s (g - mean(g) - n mean(g n)). Rows and columns
// are shared out as RMSNorm's; the sums of dy n, then those of dy, lie in shared memory.
template <typename T>
struct LayerNorm1pBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  LayerNorm1pBackward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t cols = in.x.cols;
    const SharedSpan<float> of_weight(0, cols);
    const SharedSpan<float> of_bias(static_cast<std::size_t>(cols) * sizeof(float), cols);
    sweep<T>(cols, aligned, [&](auto width, std::int64_t at) {
      for (int i = 0; i < width; ++i) {
        of_weight[spread(width, cols, at, i)] = 0;
        of_bias[spread(width, cols, at, i)] = 0;
      }
    });
    for (std::int64_t row = block_x(); row < in.x.rows; row += grid_x()) {
      backward(row, of_weight, of_bias);
    }
    float* weight_partials = in.partials + block_x() * cols;
    float* bias_partials = in.partials + (grid_x() + block_x()) * cols;
    sweep<T>(cols, aligned, [&](auto width, std::int64_t at) {
      for (int i = 0; i < width; ++i) {
        weight_partials[at + i] = of_weight[spread(width, cols, at, i)];
        bias_partials[at + i] = of_bias[spread(width, cols, at, i)];
      }
    });
  }

  __device__ void backward(std::int64_t row, const SharedSpan<float>& of_weight,
                           const SharedSpan<float>& of_bias) const {
    const std::int64_t cols = in.x.cols;
    const float mean = in.statistics[2 * row];
    const float scale = in.statistics[2 * row + 1];
    float sum = 0;
    float dot = 0;
    sweep<T>(cols, aligned, [&](auto width, std::int64_t at) {
      const auto x = load<width>(in.x.row(row) + at);
      const auto dy = load<width>(in.dy.row(row) + at);
      const auto weight = load<width>(in.weight + at);
      for (int i = 0; i < width; ++i) {
        const float normal = (x[i] - mean) * scale;
        const float gradient = (1.0F + weight[i]) * dy[i];
        sum += gradient;
        dot += gradient * normal;
        of_weight[spread(width, cols, at, i)] += dy[i] * normal;
        of_bias[spread(width, cols, at, i)] += dy[i];
      }
    });
    const float mean_sum = block_reduce(sum) / static_cast<float>(cols);
    const float mean_dot = block_reduce(dot) / static_cast<float>(cols);
    sweep<T>(cols, aligned, [&](auto width, std::int64_t at) {
      const auto x = load<width>(in.x.row(row) + at);
      const auto dy = load<width>(in.dy.row(row) + at);
      const auto weight = load<width>(in.weight + at);
      Floats<width> dx;
      for (int i = 0; i < width; ++i) {
        const float normal = (x[i] - mean) * scale;
        dx[i] = scale * ((1.0F + weight[i]) * dy[i] - mean_sum - normal * mean_dot);
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
void layer_norm_1p_forward(const LayerNorm1pForward<T>& operands, Stream stream) {
  const bool aligned = are_aligned(operands.x, operands.branch, operands.weight, operands.bias,
                                   operands.sum, operands.y);
  launch(LayerNorm1pForwardKernel<T>{operands, aligned}, {operands.x.rows}, kThreads, 0, stream);
}

template <typename T>
void layer_norm_1p_backward(const LayerNorm1pBackward<T>& operands, Stream stream) {
  const bool aligned =
      are_aligned(operands.x, operands.weight, operands.dy, operands.bypass, operands.dx);
  const std::int64_t blocks = partial_rows(operands.x.rows);
  const std::int64_t cols = operands.x.cols;
  if (blocks == 0) return;
  launch(LayerNorm1pBackwardKernel<T>{operands, aligned}, {blocks}, kThreads,
         2 * static_cast<std::size_t>(cols) * sizeof(float), stream);
  add_column_sums({operands.partials, blocks, cols}, operands.dweight, stream);
  add_column_sums({operands.partials + blocks * cols, blocks, cols}, operands.dbias, stream);
}

template void layer_norm_1p_forward(const LayerNorm1pForward<float>&, Stream);
template void layer_norm_1p_forward(const LayerNorm1pForward<Bf16>&, Stream);
template void layer_norm_1p_backward(const LayerNorm1pBackward<float>&, Stream);
template void layer_norm_1p_backward(const LayerNorm1pBackward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
