// What stands between the two linears of an MLP. SwiGLU and GeGLU take (gate, up) side by side in
// a row and give silu(gate) up or gelu(gate) up, gelu in its tanh form (as Grok-1 was released);
// squared ReLU takes and gives one.
#pragma once

#include "parser/catalog/model_shape.h"
#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

// Inputs per output: 2 where a gate is, 1 for squared ReLU.
std::int64_t inputs_per_output(parser::Activation activation);

template <typename T>
struct ActivationFunction {
  // x (n, 2f or f) -> y (n, f)
  static void forward(parser::Activation activation, View<const T> x, View<T> y);
  // dy (n, f) -> dx as x, overwritten
  static void backward(parser::Activation activation, View<const T> x, View<const T> dy,
                       View<T> dx);
};

}  // namespace llmb::runner::cpu
