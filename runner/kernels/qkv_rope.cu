#include "runner/kernels/qkv_rope.h"

#include <cmath>

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

// Copies a head, its first table.cols features turned, forward (direction 1) or back (-1).
template <typename T>
__device__ void copy_turned(const T* in, T* out, const float* cosines, int turned, float direction,
                            int piece, bool aligned, int head_size) {
  const int half = turned / 2;
  const auto turn = [&](auto width, int at) {
    auto first = load<width>(in + at);
    auto second = load<width>(in + at + half);
    const auto cosine = load<width>(cosines + at);
    const auto sine = load<width>(cosines + half + at);
    for (int i = 0; i < width; ++i) {
      const float a = first[i];
      const float b = second[i];
      first[i] = a * cosine[i] - direction * b * sine[i];
      second[i] = b * cosine[i] + direction * a * sine[i];
    }
    store(first, out + at);
    store(second, out + at + half);
  };
  const auto copy = [&](auto width, int at) { store(load<width>(in + at), out + at); };
  constexpr int kWidth = kPack<T>;
  const int step = aligned ? kWidth : 1;
  // Pieces [0, half / step) turn two stretches each, the others copy one.
  const int at = piece * step;
  if (at < half) {
    if (aligned) {
      turn(Width<kWidth>(), at);
    } else {
      turn(Width<1>(), at);
    }
  } else if (at + half < head_size) {
    if (aligned) {
      copy(Width<kWidth>(), at + half);
    } else {
      copy(Width<1>(), at + half);
    }
  }
}

// A block has a row; its threads share out the pieces of all heads of q, k and v.
template <typename T, bool kIsForward>
struct QkvRopeKernel {
  static constexpr int kThreadsMax = kThreads;

  QkvShape shape;
  Matrix<const float> table;
  Matrix<T> qkv, q, k, v;  // forward only reads the first, backward only the others
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t row = block_x();
    const float* cosines = table.row(row / shape.batch);
    // Of 32 bits, because they are divided.
    const int size = static_cast<int>(shape.head_size);
    const int heads = static_cast<int>(shape.heads_per_group);
    const int pieces = size / (aligned ? kPack<T> : 1);  // of a head; pairs that turn take two
    const int total = static_cast<int>(shape.group_count) * (heads + 2) * pieces;
    for (int index = thread_index(); index < total; index += thread_count()) {
      const int head = index / pieces;
      const int slot = head % (heads + 2);
      const int group = head / (heads + 2);
      T* fused = qkv.row(row) + head * size;
      T* apart = slot < heads    ? q.row(row) + (group * heads + slot) * size
                 : slot == heads ? k.row(row) + group * size
                                 : v.row(row) + group * size;
      const int turned = slot <= heads ? static_cast<int>(table.cols) : 0;
      copy_turned<T>(kIsForward ? fused : apart, kIsForward ? apart : fused, cosines, turned,
                     kIsForward ? 1.0F : -1.0F, index % pieces, aligned, size);
    }
  }
};

struct RopeTableKernel {
  static constexpr int kThreadsMax = kThreads;

  RopeTable in;

  __device__ void operator()() const {
    const std::int64_t half = in.table.cols / 2;
    float* row = in.table.row(block_x());
    for (std::int64_t j = thread_index(); j < half; j += thread_count()) {
      const double angle = static_cast<double>(in.positions[block_x()]) * in.frequencies[j];
      row[j] = static_cast<float>(cos(angle));
      row[j + half] = static_cast<float>(sin(angle));
    }
  }
};

template <typename T>
bool heads_are_aligned(const QkvShape& shape, std::int64_t turned) {
  return shape.head_size % kPack<T> == 0 && turned / 2 % kPack<T> == 0;
}

template <typename T>
Matrix<T> writable(const Matrix<const T>& matrix) {
  return {const_cast<T*>(matrix.data), matrix.rows, matrix.cols, matrix.stride};
}

}  // namespace

template <typename T>
void qkv_rope_forward(const QkvRopeForward<T>& in, Stream stream) {
  const bool aligned = are_aligned(in.qkv, in.q, in.k, in.v, in.table) &&
                       heads_are_aligned<T>(in.shape, in.table.cols);
  launch(QkvRopeKernel<T, true>{in.shape, in.table, writable(in.qkv), in.q, in.k, in.v, aligned},
         {in.qkv.rows}, kThreads, 0, stream);
}

template <typename T>
void qkv_rope_backward(const QkvRopeBackward<T>& in, Stream stream) {
  const bool aligned = are_aligned(in.dqkv, in.dq, in.dk, in.dv, in.table) &&
                       heads_are_aligned<T>(in.shape, in.table.cols);
  launch(QkvRopeKernel<T, false>{in.shape, in.table, in.dqkv, writable(in.dq), writable(in.dk),
                                 writable(in.dv), aligned},
         {in.dqkv.rows}, kThreads, 0, stream);
}

void make_rope_table(const RopeTable& operands, Stream stream) {
  launch(RopeTableKernel{operands}, {operands.table.rows}, kThreads, 0, stream);
}

template void qkv_rope_forward(const QkvRopeForward<float>&, Stream);
template void qkv_rope_forward(const QkvRopeForward<Bf16>&, Stream);
template void qkv_rope_backward(const QkvRopeBackward<float>&, Stream);
template void qkv_rope_backward(const QkvRopeBackward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
