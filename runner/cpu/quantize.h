// Quantize: whole matrices rounded to what a narrow format keeps of them, still as T: what a GPU's
// casts would give, for emulation and as their reference. Scales are chosen by the caller, but for
// MXFP8, whose blocks bring their own. Source: OCP Microscaling Formats 1.0; rounding.h.
#pragma once

#include "runner/cpu/rounding.h"
#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

inline constexpr std::int64_t kMxBlockSize = 32;

// Of an MXFP8 block: the power of two that brings its largest element to at most 448.
double mx_scale(double absolute_max);

template <typename T>
struct Quantize {
  static void to_bf16(View<T> x);  // in place
  static double absolute_max(View<const T> x);
  // y = fp8(x * scale) / scale
  static void to_fp8(View<const T> x, Fp8Format format, double scale, View<T> y);
  // E4M3 in blocks of 32 elements, along the rows or down the columns; the last may be shorter.
  static void to_mxfp8_along_rows(View<const T> x, View<T> y);
  static void to_mxfp8_down_columns(View<const T> x, View<T> y);
};

}  // namespace llmb::runner::cpu
