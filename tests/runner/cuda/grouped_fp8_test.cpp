// Experts in FP8 whose rows are counted on the device: casts against those of each expert alone,
// bit by bit, and products against the CPU's of the numbers that the casts left.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "runner/cpu/linear.h"
#include "runner/kernels/grouped_product.h"
#include "runner/kernels/quantize.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using Numbers = cpu::Tensor<double>;
using Counts = std::vector<std::int64_t>;

constexpr std::int64_t kStride = 3;  // between the experts' scales

std::int64_t total(const Counts& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}
std::int64_t padded(std::int64_t count) {
  return padded_expert_rows(count);
}

// Experts' rows in FP8, both layouts, with their scales.
template <typename Fp8>
struct CastRows {
  // All experts have as many rows where `counts` is empty.
  CastRows(DeviceValues<Bf16>& x, const std::vector<std::int32_t>& counts, std::int64_t experts)
      : rows(x.matrix().rows),
        cols(x.matrix().cols),
        transposed_cols(padded_rows_max(rows, experts)),
        values(static_cast<std::size_t>(experts * kStride * 3)),
        as_it_lies(static_cast<std::size_t>(rows * padded(cols)), Fp8{0}),
        transposed(static_cast<std::size_t>(cols * transposed_cols), Fp8{0xff}) {
    ScaledRows scaled;
    scaled.counts.experts = experts;
    if (counts.empty()) {
      scaled.counts.each = rows / experts;
      transposed_cols = experts * padded(rows / experts);
    } else {
      scaled.counts.rows = counts.data();
    }
    scaled.stride = kStride;
    float* const scales = values.data() + experts * kStride;
    inverses = scales + experts * kStride;
    absolute_max<Bf16>(scaled, x.matrix(), values.data(), nullptr);
    maxima = values;
    fp8_scales({values.data(), scales, inverses, experts, kStride, kStride}, kFp8Max<Fp8>, nullptr);
    cast<Bf16, Fp8>(scaled, {x.matrix(), scales, matrix(), transposed_matrix(), nullptr}, nullptr);
  }
  Matrix<Fp8> matrix() { return {as_it_lies.data(), rows, cols, padded(cols)}; }
  // With the zeros that a product takes.
  Matrix<Fp8> operand() { return {as_it_lies.data(), rows, padded(cols), padded(cols)}; }
  Matrix<Fp8> transposed_matrix() {
    return {transposed.data(), cols, transposed_cols, transposed_cols};
  }
  // What the products see of row `row`, of expert `expert`.
  double number(std::int64_t expert, std::int64_t row, std::int64_t col) {
    return static_cast<double>(to_float(matrix().row(row)[col])) *
           static_cast<double>(inverses[expert * kStride]);
  }
  Numbers numbers(const Counts& counts) {
    Numbers result(rows, cols);
    std::int64_t row = 0;
    for (std::int64_t expert = 0; expert < std::ssize(counts); ++expert) {
      for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(expert)]; ++i, ++row) {
        for (std::int64_t j = 0; j < cols; ++j) result.view().row(row)[j] = number(expert, row, j);
      }
    }
    return result;
  }

  std::int64_t rows, cols, transposed_cols;
  std::vector<float> values;  // maxima, scales, inverses
  std::vector<float> maxima;
  float* inverses = nullptr;
  std::vector<Fp8> as_it_lies, transposed;
};

struct Case {
  Counts rows;
  std::int64_t in, out;
};
// Experts without rows at both ends and between, one with several tiles; sizes that are no multiple
// of what is padded.
const Case kCases[] = {{{0, 3, 0, 131, 1, 0}, 40, 24}, {{5, 9}, 136, 144}, {{16, 32, 1}, 64, 72}};

template <typename Fp8>
void expect_casts_of_each(const Case& one) {
  const std::vector<std::int32_t> counts(one.rows.begin(), one.rows.end());
  const std::int64_t beyond = 3;
  DeviceValues<Bf16> x(random_tensor(total(one.rows) + beyond, one.in, 7));
  simt::set_order_seed(static_cast<std::uint64_t>(one.in));
  CastRows<Fp8> all(x, counts, std::ssize(counts));
  std::int64_t first = 0;
  std::int64_t first_padded = 0;
  for (std::int64_t expert = 0; expert < std::ssize(counts); ++expert) {
    const std::int64_t rows = one.rows[static_cast<std::size_t>(expert)];
    const Matrix<const Bf16> own(x.matrix().row(first), rows, one.in, one.in);
    float largest = 0;
    float scale = 0;
    float inverse = 0;
    absolute_max<Bf16>(own, &largest, nullptr);
    fp8_scale(&largest, kFp8Max<Fp8>, &scale, &inverse, nullptr);
    const auto at = static_cast<std::size_t>(expert * kStride);
    EXPECT_EQ(all.maxima[at], largest) << expert;
    EXPECT_EQ(all.values[at], 0) << "for the next cast";
    EXPECT_EQ(all.inverses[at], inverse) << expert;
    std::vector<Fp8> y(static_cast<std::size_t>(rows * one.in));
    cast<Bf16, Fp8>({own, &scale, {y.data(), rows, one.in}}, nullptr);
    for (std::int64_t i = 0; i < padded(rows); ++i) {
      for (std::int64_t j = 0; j < one.in; ++j) {
        std::uint8_t expected = 0;
        if (i < rows) {
          expected = y[static_cast<std::size_t>(i * one.in + j)].bits;
          ASSERT_EQ(all.matrix().row(first + i)[j].bits, expected) << i << " " << j;
        }
        ASSERT_EQ(all.transposed_matrix().row(j)[first_padded + i].bits, expected) << i << " " << j;
      }
    }
    first += rows;
    first_padded += padded(rows);
  }
  EXPECT_EQ(all.matrix().row(first)[0].bits, 0) << "rows of no expert stay as they are";
  EXPECT_EQ(all.transposed_matrix().row(0)[first_padded].bits, 0xff);
}

TEST(GroupedCast, IsThatOfEachExpert) {
  for (const Case& one : kCases) {
    expect_casts_of_each<Fp8E4m3>(one);
    expect_casts_of_each<Fp8E5m2>(one);
  }
}

// Scales that are given, and maxima that are noted for later ones.
TEST(GroupedCast, NotesTheMaximaOfGivenScales) {
  const std::vector<std::int32_t> counts{2, 0, 70};
  DeviceValues<Bf16> x(random_tensor(72, 20, 7));
  const std::vector<float> scales{8, 0, 0, 1, 0, 0, 2};
  std::vector<float> maxima(7, 0.25F);
  std::vector<Fp8E4m3> y(72 * 20);
  cast<Bf16, Fp8E4m3>({{counts.data(), 3}, kStride},
                      {x.matrix(), scales.data(), {y.data(), 72, 20}, {}, maxima.data()}, nullptr);
  float largest[2] = {0, 0};
  absolute_max<Bf16>(Matrix<const Bf16>(x.data(), 2, 20), &largest[0], nullptr);
  absolute_max<Bf16>(Matrix<const Bf16>(x.data() + 2 * 20, 70, 20), &largest[1], nullptr);
  EXPECT_EQ(maxima,
            (std::vector<float>{largest[0], 0.25F, 0.25F, 0.25F, 0.25F, 0.25F, largest[1]}));
  EXPECT_EQ(y[0].bits, from_float<Fp8E4m3>(8 * to_float(x.data()[0])).bits);
  EXPECT_EQ(y[71 * 20].bits, from_float<Fp8E4m3>(2 * to_float(x.data()[71 * 20])).bits);
}

// A layer's operands: x and weights in E4M3, the gradient in E5M2.
struct Layer {
  explicit Layer(const Case& one)
      : counts(one.rows.begin(), one.rows.end()),
        experts(std::ssize(counts)),
        x_values(random_tensor(total(one.rows), one.in, 1)),
        dy_values(random_tensor(total(one.rows), one.out, 2)),
        weight_values(random_tensor(experts * one.out, one.in, 3)),
        x(x_values, counts, experts),
        dy(dy_values, counts, experts),
        weight(weight_values, {}, experts) {}
  DeviceCounts on_device() const { return {counts.data(), experts}; }
  Numbers weight_numbers(std::int64_t out) {
    return weight.numbers(Counts(static_cast<std::size_t>(experts), out));
  }

  std::vector<std::int32_t> counts;
  std::int64_t experts;
  DeviceValues<Bf16> x_values, dy_values, weight_values;
  CastRows<Fp8E4m3> x;
  CastRows<Fp8E5m2> dy;
  CastRows<Fp8E4m3> weight;
};

template <typename T>
void expect_products(const Case& one) {
  Layer on(one);
  const std::int64_t rows = total(one.rows);
  const Numbers weights = on.weight_numbers(one.out);
  simt::set_order_seed(static_cast<std::uint64_t>(one.out));

  Numbers y(rows, one.out);
  cpu::GroupedLinear<double>::forward(one.rows, on.x.numbers(one.rows), weights, y);
  DeviceValues<T> y_here(rows, one.out);
  grouped_fp8_forward<T>(on.on_device(), {on.x.inverses, on.weight.inverses, kStride},
                         on.x.operand(), on.weight.operand(), y_here.matrix(), nullptr);
  expect_close(y_here.numbers(), y, kTolerance<T>, "y");

  Numbers dx(rows, one.in);
  cpu::GroupedLinear<double>::backward_input(one.rows, on.dy.numbers(one.rows), weights, dx);
  DeviceValues<T> dx_here(rows, one.in);
  grouped_fp8_backward_input<T>(on.on_device(), {on.dy.inverses, on.weight.inverses, kStride},
                                on.dy.operand(), on.weight.transposed_matrix(), dx_here.matrix(),
                                nullptr);
  expect_close(dx_here.numbers(), dx, kTolerance<T>, "dx");
}

TEST(GroupedFp8Product, GoesForwardAndBack) {
  for (const Case& one : kCases) {
    expect_products<float>(one);
    expect_products<Bf16>(one);
  }
}

// An expert without rows keeps the gradient that it has.
TEST(GroupedFp8Product, AddsToItsWeights) {
  for (const Case& one : kCases) {
    Layer on(one);
    DeviceValues<float> dweight(random_tensor(on.experts * one.out, one.in, 4));
    Numbers expected = dweight.numbers();
    cpu::GroupedLinear<double>::backward_weight(one.rows, on.x.numbers(one.rows),
                                                on.dy.numbers(one.rows), expected);
    grouped_fp8_backward_weight(on.on_device(), {on.dy.inverses, on.x.inverses, kStride},
                                on.x.transposed_matrix(), on.dy.transposed_matrix(),
                                dweight.matrix(), nullptr);
    expect_close(dweight.numbers(), expected, kTolerance<float>, "dweight");
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
