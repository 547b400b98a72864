// Casts of whole matrices against oracles that try every number a format has.
#include "runner/cpu/quantize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/runner/cpu/finite_difference.h"
#include "tests/runner/cpu/fp8_oracle.h"

namespace llmb::runner::cpu {
namespace {

using testing::nearest_fp8;
using testing::random_tensor;

TEST(Quantize, ScalesAnFp8MatrixByItsLargestElement) {
  for (const Fp8Format format : {Fp8Format::e4m3, Fp8Format::e5m2}) {
    Tensor<float> x(7, 9);
    const Tensor<double> drawn = random_tensor(7, 9, 3, -0.02, 0.02);
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(drawn.data()[i]);
    const double largest = Quantize<float>::absolute_max(x);
    const double scale = fp8_scale(largest, format);
    EXPECT_DOUBLE_EQ(scale * largest, static_cast<double>(fp8_max(format)));
    Tensor<float> y(7, 9);
    Quantize<float>::to_fp8(x, format, scale, y);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const auto scaled = static_cast<float>(double{x.data()[i]} * scale);
      EXPECT_EQ(y.data()[i], static_cast<float>(nearest_fp8(scaled, format) / scale));
    }
  }
  EXPECT_EQ(fp8_scale(0, Fp8Format::e4m3), 1);
}

TEST(Quantize, TooSmallAScaleSaturates) {
  Tensor<float> x(1, 2);
  x.data()[0] = 1000;
  x.data()[1] = -1e6F;
  Tensor<float> y(1, 2);
  Quantize<float>::to_fp8(x, Fp8Format::e4m3, 1, y);
  EXPECT_EQ(y.data()[0], 448);
  EXPECT_EQ(y.data()[1], -448);
}

// Every block of 32 by itself, with the smallest power of two that does not overflow.
TEST(Quantize, GivesEveryMxBlockItsPowerOfTwo) {
  const std::int64_t rows = 40;
  const std::int64_t cols = 70;
  Tensor<double> x = random_tensor(rows, cols, 5, -1, 1);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data()[i] *= std::pow(10.0, static_cast<double>(i % 11) - 5);
  const auto expected = [&](std::int64_t row, std::int64_t col, bool along_rows) {
    double largest = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const bool same =
            along_rows ? r == row && c / 32 == col / 32 : c == col && r / 32 == row / 32;
        if (same) largest = std::max(largest, std::fabs(x.view().row(r)[c]));
      }
    }
    double scale = 1;
    while (largest * scale > 448) scale /= 2;
    while (largest * scale * 2 <= 448) scale *= 2;
    const auto scaled = static_cast<float>(x.view().row(row)[col] * scale);
    return nearest_fp8(scaled, Fp8Format::e4m3) / scale;
  };
  Tensor<double> along(rows, cols);
  Tensor<double> down(rows, cols);
  Quantize<double>::to_mxfp8_along_rows(x, along);
  Quantize<double>::to_mxfp8_down_columns(x, down);
  for (std::int64_t row = 0; row < rows; row += 3) {
    for (std::int64_t col = 0; col < cols; col += 7) {
      EXPECT_EQ(along.view().row(row)[col], expected(row, col, true)) << row << " " << col;
      EXPECT_EQ(down.view().row(row)[col], expected(row, col, false)) << row << " " << col;
    }
  }
  EXPECT_EQ(mx_scale(448), 1);
  EXPECT_EQ(mx_scale(449), 0.5);
  EXPECT_EQ(mx_scale(0), 1);
}

TEST(Quantize, Bf16KeepsEightBits) {
  Tensor<float> x(1, 4);
  const float values[] = {1.0F, 1.00390625F, 1.01171875F, -3.14159274F};  // two ties, to even
  std::copy(std::begin(values), std::end(values), x.data());
  Quantize<float>::to_bf16(x);
  EXPECT_EQ(x.data()[0], 1.0F);
  EXPECT_EQ(x.data()[1], 1.0F);
  EXPECT_EQ(x.data()[2], 1.015625F);
  EXPECT_EQ(x.data()[3], -3.140625F);
}

}  // namespace
}  // namespace llmb::runner::cpu
