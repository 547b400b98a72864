// What stands between the two linears of an MLP: SwiGLU, GeGLU (tanh form) and squared ReLU, as
// runner/cpu/activation.h has them. Computed in fp32 from T, float or Bf16. Every element is read
// once and written once.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

enum class ActivationKind : std::uint8_t { swiglu, geglu, squared_relu };

// Moves 3 n f elements where a gate is, 2 n f for squared ReLU.
template <typename T>
struct ActivationForward {
  ActivationKind kind;
  Matrix<const T> x;  // (n, 2f), gate then up; or (n, f)
  Matrix<T> y;        // (n, f)
};
template <typename T>
void activation_forward(const ActivationForward<T>& operands, Stream stream);

// Moves 5 n f elements where a gate is, 3 n f for squared ReLU.
template <typename T>
struct ActivationBackward {
  ActivationKind kind;
  Matrix<const T> x;   // as in forward
  Matrix<const T> dy;  // (n, f)
  Matrix<T> dx;        // as x, overwritten; may be x
};
template <typename T>
void activation_backward(const ActivationBackward<T>& operands, Stream stream);

}  // namespace llmb::runner::kernels
