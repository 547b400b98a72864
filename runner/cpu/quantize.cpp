#include "runner/cpu/quantize.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "runner/cpu/op_profile.h"
#include "runner/cpu/parallel_for.h"

namespace llmb::runner::cpu {
namespace {

constexpr int kE8m0ExponentMin = -127;
constexpr int kE8m0ExponentMax = 127;
constexpr std::int64_t kRowsPerTask = 16;

// One block: `count` elements, `stride` apart.
template <typename T>
void quantize_block(const T* x, T* y, std::int64_t count, std::int64_t stride) {
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(x[i * stride])));
  }
  const double scale = mx_scale(largest);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto scaled = static_cast<float>(static_cast<double>(x[i * stride]) * scale);
    y[i * stride] =
        static_cast<T>(static_cast<double>(round_to_fp8(scaled, Fp8Format::e4m3)) / scale);
  }
}

}  // namespace

double mx_scale(double absolute_max) {
  if (!(absolute_max > 0) || !std::isfinite(absolute_max)) return 1;
  int exponent = 0;  // absolute_max / 448 = fraction * 2^exponent, fraction in [0.5, 1)
  const double fraction =
      std::frexp(absolute_max / static_cast<double>(fp8_max(Fp8Format::e4m3)), &exponent);
  if (fraction == 0.5) --exponent;  // a power of two itself
  return std::ldexp(1.0, -std::clamp(exponent, kE8m0ExponentMin, kE8m0ExponentMax));
}

template <typename T>
void Quantize<T>::to_bf16(View<T> x) {
  const OpTimer timer("quantize.bf16");
  parallel_for(x.rows, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (T* value = x.row(begin); value < x.row(end); ++value) {
      *value = static_cast<T>(round_to_bf16(static_cast<float>(*value)));
    }
  });
}

template <typename T>
double Quantize<T>::absolute_max(View<const T> x) {
  double largest = 0;
  for (const T value : x.values()) largest = std::max(largest, std::fabs(double{value}));
  return largest;
}

template <typename T>
void Quantize<T>::to_fp8(View<const T> x, Fp8Format format, double scale, View<T> y) {
  const OpTimer timer("quantize.fp8");
  assert(y.rows == x.rows && y.cols == x.cols);
  parallel_for(x.rows, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    const T* in = x.row(begin);
    for (T* out = y.row(begin); out < y.row(end); ++in, ++out) {
      const auto scaled = static_cast<float>(double{*in} * scale);
      *out = static_cast<T>(static_cast<double>(round_to_fp8(scaled, format)) / scale);
    }
  });
}

template <typename T>
void Quantize<T>::to_mxfp8_along_rows(View<const T> x, View<T> y) {
  const OpTimer timer("quantize.mxfp8");
  assert(y.rows == x.rows && y.cols == x.cols);
  parallel_for(x.rows, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t first = 0; first < x.cols; first += kMxBlockSize) {
        const std::int64_t count = std::min(kMxBlockSize, x.cols - first);
        quantize_block(x.row(row) + first, y.row(row) + first, count, 1);
      }
    }
  });
}

template <typename T>
void Quantize<T>::to_mxfp8_down_columns(View<const T> x, View<T> y) {
  const OpTimer timer("quantize.mxfp8");
  assert(y.rows == x.rows && y.cols == x.cols);
  for (std::int64_t first = 0; first < x.rows; first += kMxBlockSize) {
    const std::int64_t count = std::min(kMxBlockSize, x.rows - first);
    for (std::int64_t col = 0; col < x.cols; ++col) {
      quantize_block(x.row(first) + col, y.row(first) + col, count, x.cols);
    }
  }
}

template struct Quantize<float>;
template struct Quantize<double>;

}  // namespace llmb::runner::cpu
