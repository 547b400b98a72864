// The two normalizations over the features of each token. RMSNorm: y = w x / rms(x).
// LayerNorm1p: y = (1 + w) (x - mean) / std + b, so that weights start, and decay, at zero.
// Source: Zhang and Sennrich 2019; Megatron-LM's layernorm_zero_centered_gamma.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"

namespace llmb::runner::cpu {

template <typename T>
struct RmsNorm {
  // x (n, h), weight (h) -> y (n, h), scale (n, 1): 1 / sqrt(mean(x^2) + epsilon)
  static void forward(View<const T> x, std::span<const T> weight, T epsilon, View<T> y,
                      View<T> scale);
  // dy (n, h) -> dx (n, h) overwritten, dweight (h) added to
  static void backward(View<const T> x, std::span<const T> weight, View<const T> scale,
                       View<const T> dy, View<T> dx, std::span<T> dweight);
};

template <typename T>
struct LayerNorm1p {
  // x (n, h), weight (h), bias (h) -> y (n, h), statistics (n, 2): mean, 1 / std
  static void forward(View<const T> x, std::span<const T> weight, std::span<const T> bias,
                      T epsilon, View<T> y, View<T> statistics);
  // dy (n, h) -> dx (n, h) overwritten, dweight and dbias (h) added to
  static void backward(View<const T> x, std::span<const T> weight, View<const T> statistics,
                       View<const T> dy, View<T> dx, std::span<T> dweight, std::span<T> dbias);
};

}  // namespace llmb::runner::cpu
