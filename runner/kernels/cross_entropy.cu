#include "runner/kernels/cross_entropy.h"

#include <cmath>

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 512;
constexpr int kSmallThreads = 256;

// Of some logits: the largest, and the sum of exp(logit - largest).
struct Softmax {
  float maximum = -INFINITY;
  float sum = 0;

  template <int kCount>
  __device__ void add(const Floats<kCount>& logits) {
    float larger = maximum;
    for (int i = 0; i < kCount; ++i) larger = fmaxf(larger, logits[i]);
    if (larger > maximum) sum *= expf(maximum - larger);
    maximum = larger;
    for (int i = 0; i < kCount; ++i) sum += expf(logits[i] - maximum);
  }
};

// Every thread gets the block's.
template <typename T>
__device__ Softmax softmax_of_row(const T* row, std::int64_t cols, bool aligned) {
  Softmax own;
  sweep<T>(cols, aligned, [&](auto width, std::int64_t at) { own.add(load<width>(row + at)); });
  const float maximum = block_reduce(own.maximum, Larger());
  const float sum = own.sum == 0 ? 0.0F : own.sum * expf(own.maximum - maximum);
  Softmax whole;
  whole.maximum = maximum;
  whole.sum = block_reduce(sum);
  return whole;
}

// Logits to gradients; `target` is a column of this row, or none. The column is of the thread that
// writes it anyway.
template <typename T>
__device__ void gradients_of_row(T* row, std::int64_t cols, bool aligned, const Softmax& softmax,
                                 std::int64_t target, float scale) {
  const float factor = scale / softmax.sum;
  sweep<T>(cols, aligned, [&](auto width, std::int64_t at) {
    auto values = load<width>(row + at);
    for (int i = 0; i < width; ++i) {
      values[i] = factor * expf(values[i] - softmax.maximum);
      if (at + i == target) values[i] -= scale;
    }
    store(values, row + at);
  });
}

template <typename T>
struct CrossEntropyStatisticsKernel {
  static constexpr int kThreadsMax = kThreads;

  CrossEntropyStatistics<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t row = block_x();
    const Softmax softmax = softmax_of_row(in.logits.row(row), in.logits.cols, aligned);
    if (thread_index() != 0) return;
    in.local_maxima[row] = softmax.maximum;
    in.maxima[row] = softmax.maximum;
    in.local_sums[row] = softmax.sum;
  }
};

template <typename T>
struct CrossEntropyRebaseKernel {
  static constexpr int kThreadsMax = kSmallThreads;

  CrossEntropyRebase<T> in;

  __device__ void operator()() const {
    const std::int64_t row = block_x() * thread_count() + thread_index();
    if (row >= in.logits.rows) return;
    const float maximum = in.maxima[row];
    const std::int64_t target = in.targets.tokens[row] - in.targets.first_token;
    const bool is_here = target >= 0 && target < in.logits.cols;
    in.sums[2 * row] = in.local_sums[row] * expf(in.local_maxima[row] - maximum);
    in.sums[2 * row + 1] = is_here ? to_float(in.logits.row(row)[target]) - maximum : 0.0F;
  }
};

struct CrossEntropyLossesKernel {
  static constexpr int kThreadsMax = kSmallThreads;

  const float* sums;
  std::int64_t rows;
  float* losses;

  __device__ void operator()() const {
    const std::int64_t row = block_x() * thread_count() + thread_index();
    if (row < rows) losses[row] = logf(sums[2 * row]) - sums[2 * row + 1];
  }
};

template <typename T>
struct CrossEntropyBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  CrossEntropyBackward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t row = block_x();
    Softmax softmax;
    softmax.maximum = in.maxima[row];
    softmax.sum = in.sums[2 * row];
    gradients_of_row(in.logits.row(row), in.logits.cols, aligned, softmax,
                     in.targets.tokens[row] - in.targets.first_token, *in.scale);
  }
};

template <typename T>
struct CrossEntropyFusedKernel {
  static constexpr int kThreadsMax = kThreads;

  CrossEntropyFused<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t row = block_x();
    const std::int64_t target = in.targets[row];
    T* logits = in.logits.row(row);
    const float target_logit = to_float(logits[target]);
    // Its barriers part this read of the target from the gradient that is written there.
    const Softmax softmax = softmax_of_row<T>(logits, in.logits.cols, aligned);
    if (thread_index() == 0) {
      in.losses[row] = logf(softmax.sum) - (target_logit - softmax.maximum);
    }
    gradients_of_row(logits, in.logits.cols, aligned, softmax, target, *in.scale);
  }
};

}  // namespace

template <typename T>
void cross_entropy_statistics(const CrossEntropyStatistics<T>& operands, Stream stream) {
  launch(CrossEntropyStatisticsKernel<T>{operands, are_aligned(operands.logits)},
         {operands.logits.rows}, kThreads, 0, stream);
}

template <typename T>
void cross_entropy_rebase(const CrossEntropyRebase<T>& operands, Stream stream) {
  launch(CrossEntropyRebaseKernel<T>{operands}, {blocks_for(operands.logits.rows, kSmallThreads)},
         kSmallThreads, 0, stream);
}

void cross_entropy_losses(const float* sums, std::int64_t rows, float* losses, Stream stream) {
  launch(CrossEntropyLossesKernel{sums, rows, losses}, {blocks_for(rows, kSmallThreads)},
         kSmallThreads, 0, stream);
}

template <typename T>
void cross_entropy_backward(const CrossEntropyBackward<T>& operands, Stream stream) {
  launch(CrossEntropyBackwardKernel<T>{operands, are_aligned(operands.logits)},
         {operands.logits.rows}, kThreads, 0, stream);
}

template <typename T>
void cross_entropy_fused(const CrossEntropyFused<T>& operands, Stream stream) {
  launch(CrossEntropyFusedKernel<T>{operands, are_aligned(operands.logits)}, {operands.logits.rows},
         kThreads, 0, stream);
}

template void cross_entropy_statistics(const CrossEntropyStatistics<float>&, Stream);
template void cross_entropy_statistics(const CrossEntropyStatistics<Bf16>&, Stream);
template void cross_entropy_rebase(const CrossEntropyRebase<float>&, Stream);
template void cross_entropy_rebase(const CrossEntropyRebase<Bf16>&, Stream);
template void cross_entropy_backward(const CrossEntropyBackward<float>&, Stream);
template void cross_entropy_backward(const CrossEntropyBackward<Bf16>&, Stream);
template void cross_entropy_fused(const CrossEntropyFused<float>&, Stream);
template void cross_entropy_fused(const CrossEntropyFused<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
