// Backend: everything that the model, the optimizer and the trainer need to know of a CUDA device:
// its elements, its memory, its operations. cpu::Backend is the oracle of each of them.
#pragma once

#include <cstdint>

#include "runner/cuda/ops.h"
#include "runner/cuda/tensor.h"
#include "runner/kernels/number.h"
#include "runner/parallel/communicator.h"

namespace llmb::runner {

template <>
struct ElementTraits<kernels::Bf16> {
  static constexpr ElementType kType = ElementType::bfloat16;
};

namespace cuda {

// T, of values: kernels::Bf16, or float for comparisons. Sums, statistics, gradients of weights and
// the optimizer's states are fp32 either way.
template <typename T>
struct Backend {
  using Value = T;
  using Statistic = float;
  using Gradient = float;
  using Master = float;
  using Index = std::int32_t;
  template <typename E>
  using Tensor = cuda::Tensor<E>;
  template <typename E>
  using View = runner::View<E>;
  template <typename E>
  using Array = cuda::Array<E>;
  using Ops = cuda::Ops<T>;

  // Values are of the elements that the precision means.
  static constexpr bool kEmulatesNarrow = false;

  static Value value_of(double number) {
    return kernels::from_float<Value>(static_cast<float>(number));
  }
};

}  // namespace cuda
}  // namespace llmb::runner
