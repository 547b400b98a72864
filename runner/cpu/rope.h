// Rotary position embedding: turns pairs (i, i + r/2) of the first r features of every head by
// position * base^(-2i/r). Source: Su et al. 2021, in the half-split order of Megatron and Llama.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

// How fast the pairs turn. With a scaling factor above 1, as Llama 3.1 has it for long contexts:
// pairs that turn less than `low` times over the original length turn `factor` times slower, those
// that turn more than `high` times turn as before, and between the two it goes over smoothly.
struct RotaryFrequencies {
  double base = 1e4;
  double scaling_factor = 1;
  double low_turns = 1;
  double high_turns = 4;
  double original_length = 8192;  // positions

  // Radians per position of pair `index` of `count`.
  double of_pair(std::int64_t index, std::int64_t count) const;
};

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
