#include "runner/kernels/embedding.h"

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kColumnsPerBlock = 2048;  // of a gradient

template <typename T>
struct EmbeddingForwardKernel {
  static constexpr int kThreadsMax = kThreads;

  EmbeddingForward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t token = in.tokens[block_x()] - in.first_token;
    const bool is_here = token >= 0 && token < in.table.rows;
    T* y = in.y.row(block_x());
    sweep<T>(in.y.cols, aligned, [&](auto width, std::int64_t at) {
      Floats<width> values = {};
      if (is_here) values = load<width>(in.table.row(token) + at);
      store(values, y + at);
    });
  }
};

// A block has a token, and looks for the same one before and after it.
struct EmbeddingLinkKernel {
  static constexpr int kThreadsMax = kThreads;

  const std::int32_t* tokens;
  std::int64_t count;
  std::int32_t* next;
  std::int32_t* is_later;

  __device__ void operator()() const {
    const std::int64_t own = block_x();
    const std::int32_t token = tokens[own];
    auto nearest = static_cast<float>(count);  // exact: rows are fewer than 2^24
    float before = 0;
    for (std::int64_t i = thread_index(); i < count; i += thread_count()) {
      if (tokens[i] != token || i == own) continue;
      if (i < own) {
        before = 1;
      } else {
        nearest = fminf(nearest, static_cast<float>(i));
      }
    }
    nearest = -block_reduce(-nearest, Larger());
    before = block_reduce(before, Larger());
    if (thread_index() != 0) return;
    next[own] = static_cast<std::int32_t>(nearest);
    is_later[own] = before > 0 ? 1 : 0;
  }
};

template <typename T>
struct EmbeddingBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  EmbeddingBackward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t first = block_x();
    const std::int64_t token = in.tokens[first] - in.first_token;
    if (token < 0 || token >= in.dtable.rows || in.is_later[first] != 0) return;
    const std::int64_t begin = block_y() * kColumnsPerBlock;
    const std::int64_t left = in.dy.cols - begin;
    float* dtable = in.dtable.row(token) + begin;
    sweep<T>(left < kColumnsPerBlock ? left : kColumnsPerBlock, aligned,
             [&](auto width, std::int64_t at) {
               auto sum = load<width>(dtable + at);
               for (std::int64_t row = first; row < in.dy.rows; row = in.next[row]) {
                 const auto dy = load<width>(in.dy.row(row) + begin + at);
                 for (int i = 0; i < width; ++i) sum[i] += dy[i];
               }
               store(sum, dtable + at);
             });
  }
};

}  // namespace

template <typename T>
void embedding_forward(const EmbeddingForward<T>& operands, Stream stream) {
  launch(EmbeddingForwardKernel<T>{operands, are_aligned(operands.table, operands.y)},
         {operands.y.rows}, kThreads, 0, stream);
}

template <typename T>
void embedding_backward(const EmbeddingBackward<T>& operands, Stream stream) {
  const std::int64_t rows = operands.dy.rows;
  launch(EmbeddingLinkKernel{operands.tokens, rows, operands.next, operands.is_later}, {rows},
         kThreads, 0, stream);
  launch(EmbeddingBackwardKernel<T>{operands, are_aligned(operands.dy, operands.dtable)},
         {rows, blocks_for(operands.dy.cols, kColumnsPerBlock)}, kThreads, 0, stream);
}

template void embedding_forward(const EmbeddingForward<float>&, Stream);
template void embedding_forward(const EmbeddingForward<Bf16>&, Stream);
template void embedding_backward(const EmbeddingBackward<float>&, Stream);
template void embedding_backward(const EmbeddingBackward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
