#include "runner/kernels/row_order.h"

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T, bool kIsTake>
struct RowOrderKernel {
  static constexpr int kThreadsMax = kThreads;

  const std::int32_t* order;
  Matrix<const T> in;
  Matrix<T> out;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t there = order[block_x()];
    const T* from = in.row(kIsTake ? there : block_x());
    T* to = out.row(kIsTake ? block_x() : there);
    sweep<T>(in.cols, aligned,
             [&](auto width, std::int64_t at) { store(load<width>(from + at), to + at); });
  }
};

}  // namespace

template <typename T>
void take_rows(const std::int32_t* order, Matrix<const T> in, Matrix<T> out, Stream stream) {
  launch(RowOrderKernel<T, true>{order, in, out, are_aligned(in, out)}, {out.rows}, kThreads, 0,
         stream);
}

template <typename T>
void put_rows(const std::int32_t* order, Matrix<const T> in, Matrix<T> out, Stream stream) {
  launch(RowOrderKernel<T, false>{order, in, out, are_aligned(in, out)}, {in.rows}, kThreads, 0,
         stream);
}

template void take_rows(const std::int32_t*, Matrix<const float>, Matrix<float>, Stream);
template void take_rows(const std::int32_t*, Matrix<const Bf16>, Matrix<Bf16>, Stream);
template void put_rows(const std::int32_t*, Matrix<const float>, Matrix<float>, Stream);
template void put_rows(const std::int32_t*, Matrix<const Bf16>, Matrix<Bf16>, Stream);

}  // namespace llmb::runner::kernels
