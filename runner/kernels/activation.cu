#include "runner/kernels/activation.h"

#include <cmath>

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

struct Curve {
  float value;
  float slope;
};

// x sigmoid(x)
struct Silu {
  __device__ static Curve at(float x) {
    const float sigmoid = 1.0F / (1.0F + expf(-x));
    return {x * sigmoid, sigmoid * (1.0F + x * (1.0F - sigmoid))};
  }
};

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
struct Gelu {
  __device__ static Curve at(float x) {
    constexpr float kFactor = 0.797884560802865F;
    const float cubic = 0.044715F * x * x;
    const float tanh = tanhf(kFactor * (x + cubic * x));
    const float inner_slope = kFactor * (1.0F + 3.0F * cubic);
    return {x / 2.0F * (1.0F + tanh),
            (1.0F + tanh) / 2.0F + x / 2.0F * (1.0F - tanh * tanh) * inner_slope};
  }
};

template <typename T, typename Gate>
struct GatedForwardKernel {
  static constexpr int kThreadsMax = kThreads;

  ActivationForward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const T* gates = in.x.row(block_x());
    const T* ups = gates + in.y.cols;
    sweep<T>(in.y.cols, aligned, [&](auto width, std::int64_t at) {
      auto y = load<width>(gates + at);
      const auto up = load<width>(ups + at);
      for (int i = 0; i < width; ++i) y[i] = Gate::at(y[i]).value * up[i];
      store(y, in.y.row(block_x()) + at);
    });
  }
};

template <typename T, typename Gate>
struct GatedBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  ActivationBackward<T> in;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t cols = in.dy.cols;
    const T* gates = in.x.row(block_x());
    T* d_gates = in.dx.row(block_x());
    sweep<T>(cols, aligned, [&](auto width, std::int64_t at) {
      auto gate = load<width>(gates + at);
      auto up = load<width>(gates + cols + at);
      const auto dy = load<width>(in.dy.row(block_x()) + at);
      for (int i = 0; i < width; ++i) {
        const Curve curve = Gate::at(gate[i]);
        gate[i] = curve.slope * up[i] * dy[i];
        up[i] = curve.value * dy[i];
      }
      store(gate, d_gates + at);
      store(up, d_gates + cols + at);
    });
  }
};

template <typename T>
struct SquaredReluForwardKernel {
  static constexpr int kThreadsMax = kThreads;

  ActivationForward<T> in;
  bool aligned;

  __device__ void operator()() const {
    sweep<T>(in.y.cols, aligned, [&](auto width, std::int64_t at) {
      auto x = load<width>(in.x.row(block_x()) + at);
      for (int i = 0; i < width; ++i) x[i] = x[i] > 0 ? x[i] * x[i] : 0.0F;
      store(x, in.y.row(block_x()) + at);
    });
  }
};

template <typename T>
struct SquaredReluBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  ActivationBackward<T> in;
  bool aligned;

  __device__ void operator()() const {
    sweep<T>(in.dy.cols, aligned, [&](auto width, std::int64_t at) {
      auto x = load<width>(in.x.row(block_x()) + at);
      const auto dy = load<width>(in.dy.row(block_x()) + at);
      for (int i = 0; i < width; ++i) x[i] = x[i] > 0 ? 2.0F * x[i] * dy[i] : 0.0F;
      store(x, in.dx.row(block_x()) + at);
    });
  }
};

// Gate and up are f columns apart, so f has to keep the alignment.
template <typename T>
bool halves_are_aligned(std::int64_t cols) {
  return cols % kPack<T> == 0;
}

}  // namespace

template <typename T>
void activation_forward(const ActivationForward<T>& operands, Stream stream) {
  const Grid grid{operands.y.rows};
  const bool aligned = are_aligned(operands.x, operands.y);
  const bool halves = aligned && halves_are_aligned<T>(operands.y.cols);
  switch (operands.kind) {
    case ActivationKind::swiglu:
      return launch(GatedForwardKernel<T, Silu>{operands, halves}, grid, kThreads, 0, stream);
    case ActivationKind::geglu:
      return launch(GatedForwardKernel<T, Gelu>{operands, halves}, grid, kThreads, 0, stream);
    case ActivationKind::squared_relu:
      return launch(SquaredReluForwardKernel<T>{operands, aligned}, grid, kThreads, 0, stream);
  }
}

template <typename T>
void activation_backward(const ActivationBackward<T>& operands, Stream stream) {
  const Grid grid{operands.dy.rows};
  const bool aligned = are_aligned(operands.x, operands.dy, operands.dx);
  const bool halves = aligned && halves_are_aligned<T>(operands.dy.cols);
  switch (operands.kind) {
    case ActivationKind::swiglu:
      return launch(GatedBackwardKernel<T, Silu>{operands, halves}, grid, kThreads, 0, stream);
    case ActivationKind::geglu:
      return launch(GatedBackwardKernel<T, Gelu>{operands, halves}, grid, kThreads, 0, stream);
    case ActivationKind::squared_relu:
      return launch(SquaredReluBackwardKernel<T>{operands, aligned}, grid, kThreads, 0, stream);
  }
}

template void activation_forward(const ActivationForward<float>&, Stream);
template void activation_forward(const ActivationForward<Bf16>&, Stream);
template void activation_backward(const ActivationBackward<float>&, Stream);
template void activation_backward(const ActivationBackward<Bf16>&, Stream);

}  // namespace llmb::runner::kernels
