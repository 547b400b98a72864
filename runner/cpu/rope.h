// Rotary position embedding: turns pairs (i, i + r/2) of the first r features of every head by
// position * base^(-2i/r). Source: Su et al. 2021, in the half-split order of Megatron and Llama.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"
#include "runner/operation/rotary_frequencies.h"

namespace llmb::runner::cpu {

using runner::RotaryFrequencies;

template <typename T>
struct Rope {
  // positions (s) -> table (s, rotary_size): cosines, then sines, of the rotary_size / 2 angles
  static void make_table(std::span<const std::int64_t> positions,
                         const RotaryFrequencies& frequencies, View<T> table);
  // x (s * batch, heads * head_size), in place
  static void forward(View<const T> table, std::int64_t batch, std::int64_t head_size, View<T> x);
  // The gradient of x, in place: turned back.
  static void backward(View<const T> table, std::int64_t batch, std::int64_t head_size, View<T> dx);
};

}  // namespace llmb::runner::cpu
