// Casts to BF16, FP8 and MXFP8: kernels against the emulation on the CPU, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "runner/cpu/quantize.h"
#include "runner/cpu/rounding.h"
#include "runner/kernels/mx_scales.h"
#include "runner/kernels/quantize.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kSeeds;
using runner::testing::random_tensor;
using Numbers = cpu::Tensor<double>;

cpu::Fp8Format format_of(Fp8E4m3) {
  return cpu::Fp8Format::e4m3;
}
cpu::Fp8Format format_of(Fp8E5m2) {
  return cpu::Fp8Format::e5m2;
}

// Zeros, subnormal numbers, ties, numbers above the largest.
template <typename T>
DeviceValues<T> mixed_values(std::int64_t rows, std::int64_t cols, std::int64_t padding) {
  Numbers numbers = random_tensor(rows, cols, 3, -1, 1);
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    numbers.data()[i] = std::ldexp(numbers.data()[i], static_cast<int>(i % 29) - 16);
    if (i % 17 == 0) numbers.data()[i] = 0;
    if (i % 19 == 0) numbers.data()[i] = 17.0 / 16.0;
  }
  return DeviceValues<T>(numbers, padding);
}

TEST(Number, HasTheBitsOfTheCpusEmulation) {
  const auto check = [](float value) {
    if (value != value) return;
    ASSERT_EQ(to_float(from_float<Fp8E4m3>(value)), cpu::round_to_fp8(value, cpu::Fp8Format::e4m3))
        << value;
    ASSERT_EQ(to_float(from_float<Fp8E5m2>(value)), cpu::round_to_fp8(value, cpu::Fp8Format::e5m2))
        << value;
    ASSERT_EQ(from_float<Bf16>(value).bits, cpu::encode_bf16(value)) << value;
  };
  // Every sign, exponent and leading bits, with the rest at, below and above a tie.
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      check(std::bit_cast<float>(high << 16 | low));
    }
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(to_float(from_float<Bf16>(nan))));
  EXPECT_TRUE(std::isnan(to_float(from_float<Fp8E4m3>(nan))));
  EXPECT_TRUE(std::isnan(to_float(from_float<Fp8E5m2>(nan))));
  for (int code = 0; code < 256; ++code) {
    const Fp8E4m3 number{static_cast<std::uint8_t>(code)};
    if ((code & 0x7f) == 0x7f) continue;
    EXPECT_EQ(from_float<Fp8E4m3>(to_float(number)).bits, code);
  }
}

struct Size {
  std::int64_t rows, cols, padding;
};
// Whole tiles; parts of tiles; rows that begin anywhere.
constexpr Size kSizes[] = {{64, 128, 0}, {80, 48, 0}, {67, 21, 2}, {144, 160, 0}};

template <typename In, typename Out>
void expect_casts(const Size& size) {
  const auto& [rows, cols, padding] = size;
  DeviceValues<In> x = mixed_values<In>(rows, cols, padding);
  const Numbers numbers = x.numbers();
  const double largest_expected = cpu::Quantize<double>::absolute_max(numbers);
  float largest = 0;
  float scale = 0;
  float inverse = 0;
  absolute_max<In>(x.matrix(), &largest, nullptr);
  EXPECT_EQ(static_cast<double>(largest), largest_expected);
  fp8_scale(&largest, kFp8Max<Out>, &scale, &inverse, nullptr);
  EXPECT_EQ(scale, static_cast<float>(runner::fp8_scale(largest_expected, format_of(Out()))));
  const std::int64_t pitch = rows + padding;
  std::vector<Out> y(static_cast<std::size_t>(rows * cols), Out{0xff});
  std::vector<Out> transposed(static_cast<std::size_t>(cols * pitch), Out{0xff});
  float largest_of_cast = 0;
  cast<In, Out>({x.matrix(),
                 &scale,
                 {y.data(), rows, cols},
                 {transposed.data(), cols, rows, pitch},
                 &largest_of_cast},
                nullptr);
  EXPECT_EQ(largest_of_cast, largest);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const auto scaled = static_cast<float>(numbers.view().row(i)[j] * static_cast<double>(scale));
      const float expected = cpu::round_to_fp8(scaled, format_of(Out()));
      const auto at = static_cast<std::size_t>(i * cols + j);
      ASSERT_EQ(to_float(y[at]), expected) << i << ", " << j;
      ASSERT_EQ(transposed[static_cast<std::size_t>(j * pitch + i)].bits, y[at].bits)
          << i << ", " << j;
    }
  }
}

TEST(Cast, ToFp8GivesBothLayouts) {
  std::uint64_t seed = 0;
  for (const Size& size : kSizes) {
    simt::set_order_seed(++seed);
    expect_casts<Bf16, Fp8E4m3>(size);
    expect_casts<Bf16, Fp8E5m2>(size);
    expect_casts<float, Fp8E4m3>(size);
    expect_casts<float, Fp8E5m2>(size);
  }
}

TEST(Cast, ToBf16GivesBothLayouts) {
  for (const auto& [rows, cols, padding] : kSizes) {
    DeviceValues<float> x = mixed_values<float>(rows, cols, padding);
    Numbers expected = x.numbers();
    cpu::Quantize<double>::to_bf16(expected);
    DeviceValues<Bf16> y(rows, cols, padding);
    DeviceValues<Bf16> transposed(cols, rows);
    cast<float, Bf16>({x.matrix(), nullptr, y.matrix(), transposed.matrix(), nullptr}, nullptr);
    expect_close(y.numbers(), expected, 0, "y");
    Numbers turned(cols, rows);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) turned.view().row(j)[i] = expected.view().row(i)[j];
    }
    expect_close(transposed.numbers(), turned, 0, "transposed");
  }
}

// What an MXFP8 number stands for.
double mx_number(Fp8E4m3 number, std::uint8_t exponent) {
  return std::ldexp(static_cast<double>(to_float(number)), exponent - 127);
}

template <typename In>
void expect_mx_casts(const Size& size) {
  const auto& [rows, cols, padding] = size;
  DeviceValues<In> x = mixed_values<In>(rows, cols, padding);
  Numbers along(rows, cols);
  Numbers down(rows, cols);
  cpu::Quantize<double>::to_mxfp8_along_rows(x.numbers(), along);
  cpu::Quantize<double>::to_mxfp8_down_columns(x.numbers(), down);
  // Rows of the results are longer than the matrix, as products want them.
  const std::int64_t pitch = (cols + 31) / 32 * 32;
  const std::int64_t row_pitch = (rows + 31) / 32 * 32;
  constexpr std::uint8_t kUntouched = 0xa5;
  std::vector<Fp8E4m3> y(static_cast<std::size_t>(rows * pitch), Fp8E4m3{kUntouched});
  std::vector<Fp8E4m3> transposed(static_cast<std::size_t>(cols * row_pitch), Fp8E4m3{kUntouched});
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(mx_scale_bytes(rows, cols)),
                                   kUntouched);
  std::vector<std::uint8_t> transposed_scales(static_cast<std::size_t>(mx_scale_bytes(cols, rows)),
                                              kUntouched);
  const std::int64_t tiles = mx_tiles_along(cols);
  const std::int64_t row_tiles = mx_tiles_along(rows);
  const MxCast<In> both{x.matrix(),
                        {y.data(), rows, cols, pitch},
                        scales.data(),
                        {transposed.data(), cols, rows, row_pitch},
                        transposed_scales.data()};
  mx_cast<In>({x.matrix(), both.y, both.scales, {}, nullptr}, nullptr);
  const std::vector<Fp8E4m3> alone = y;
  mx_cast<In>(both, nullptr);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const auto at = static_cast<std::size_t>(i * pitch + j);
      ASSERT_EQ(y[at].bits, alone[at].bits) << i << ", " << j;
      ASSERT_EQ(
          mx_number(y[at], scales[static_cast<std::size_t>(mx_scale_offset(i, j / 32, tiles))]),
          along.view().row(i)[j])
          << i << ", " << j;
      ASSERT_EQ(
          mx_number(
              transposed[static_cast<std::size_t>(j * row_pitch + i)],
              transposed_scales[static_cast<std::size_t>(mx_scale_offset(j, i / 32, row_tiles))]),
          down.view().row(i)[j])
          << i << ", " << j;
    }
    for (std::int64_t j = cols; j < pitch; ++j) {
      ASSERT_EQ(y[static_cast<std::size_t>(i * pitch + j)].bits, kUntouched) << "behind a row";
    }
  }
  const auto touched = [&](const std::vector<std::uint8_t>& bytes) {
    return std::ssize(bytes) - std::count(bytes.begin(), bytes.end(), kUntouched);
  };
  EXPECT_EQ(touched(scales), rows * (pitch / 32)) << "a scale for each block, and no other";
  EXPECT_EQ(touched(transposed_scales), cols * (row_pitch / 32));
}

// By hand, from the drawing of a tile: its first 16 bytes are the four blocks of rows 0, 32, 64 and
// 96; row 1 and those 32 apart from it are next; the tile of the next four blocks follows after 512
// bytes, and that of the next 128 rows after all tiles along the row.
TEST(MxScales, LieInTilesOf128RowsByFourBlocks) {
  EXPECT_EQ(mx_tiles_along(128), 1);
  EXPECT_EQ(mx_tiles_along(129), 2);
  EXPECT_EQ(mx_scale_bytes(1, 1), 512);
  EXPECT_EQ(mx_scale_bytes(129, 4096), 2 * 32 * 512);
  EXPECT_EQ(mx_scale_offset(0, 0, 3), 0);
  EXPECT_EQ(mx_scale_offset(0, 3, 3), 3);
  EXPECT_EQ(mx_scale_offset(32, 0, 3), 4);
  EXPECT_EQ(mx_scale_offset(96, 2, 3), 14);
  EXPECT_EQ(mx_scale_offset(1, 0, 3), 16);
  EXPECT_EQ(mx_scale_offset(127, 3, 3), 511);
  EXPECT_EQ(mx_scale_offset(0, 4, 3), 512);
  EXPECT_EQ(mx_scale_offset(128, 0, 3), 3 * 512);
  EXPECT_EQ(mx_scale_offset(129, 9, 3), 5 * 512 + 16 + 1);
}

TEST(Cast, ToMxfp8HasBlocksAlongRowsAndDownColumns) {
  for (const auto seed : kSeeds) {
    simt::set_order_seed(seed);
    for (const Size& size : kSizes) {
      expect_mx_casts<float>(size);
      expect_mx_casts<Bf16>(size);
    }
  }
}

TEST(AmaxStep, ScalesByTheLargestOfTheStepsThatAreRemembered) {
  constexpr std::int64_t kMatrices = 2;
  constexpr std::int64_t kLength = 16;
  std::vector<float> history(kMatrices * kLength, std::numeric_limits<float>::quiet_NaN());
  const std::vector<float> format_maxima = {448.0F, 57344.0F};
  std::vector<float> step_maxima(kMatrices), scales(kMatrices), inverses(kMatrices);
  DeviceValues<float> maxima(random_tensor(40, kMatrices, 4, 0, 8));
  maxima.matrix().row(3)[1] = 20;  // the largest of all, and it is forgotten
  for (std::int64_t step = 0; step < 40; ++step) {
    std::copy_n(maxima.matrix().row(step), kMatrices, step_maxima.data());
    end_amax_step({{history.data(), kMatrices, kLength},
                   step,
                   step_maxima.data(),
                   format_maxima.data(),
                   scales.data(),
                   inverses.data()},
                  nullptr);
    for (std::size_t m = 0; m < kMatrices; ++m) {
      float largest = 0;
      for (std::int64_t i = std::max<std::int64_t>(0, step - kLength + 1); i <= step; ++i) {
        largest = std::max(largest, maxima.matrix().row(i)[m]);
      }
      EXPECT_EQ(scales[m], format_maxima[m] / largest) << step;
      EXPECT_EQ(inverses[m], 1.0F / scales[m]);
      EXPECT_EQ(step_maxima[m], 0.0F);
    }
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
