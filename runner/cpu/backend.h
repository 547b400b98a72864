// Backend: everything that the model, the optimizer and the trainer need to know of the CPU: its
// elements, its memory, its operations. Another backend is another such type.
#pragma once

#include "runner/cpu/array.h"
#include "runner/cpu/ops.h"
#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

// T, of everything that is no index: float, or double for checks.
template <typename T>
struct Backend {
  using Value = T;      // of activations, and of the weights that products take
  using Statistic = T;  // of norms, softmax and router
  using Gradient = T;   // of weights
  using Master = T;     // of what the optimizer keeps
  using Index = std::int64_t;
  template <typename E>
  using Tensor = cpu::Tensor<E>;
  template <typename E>
  using View = cpu::View<E>;
  template <typename E>
  using Array = cpu::Array<E>;
  using Ops = cpu::Ops<T>;

  // Values are wide and are rounded where a narrow precision would round them.
  static constexpr bool kEmulatesNarrow = true;

  static Value value_of(double number) { return static_cast<Value>(number); }
};

}  // namespace llmb::runner::cpu
