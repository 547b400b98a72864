// Products of experts whose rows are counted on the device, and the order of rows that arrive:
// kernels against the CPU.
#include "runner/kernels/grouped_product.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runner/cpu/expert_rows.h"
#include "runner/cpu/linear.h"
#include "runner/kernels/expert_rows.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using Numbers = cpu::Tensor<double>;
using Counts = std::vector<std::int64_t>;

// Rows of the experts, sizes of the layer, elements between rows.
struct Case {
  Counts rows;
  std::int64_t in, out, padding;
};
// Experts without rows at both ends and between, one with several tiles, one with all; sizes that
// are tiles, less and more; rows that 16 bytes do not divide.
const Case kCases[] = {{{0, 3, 0, 131, 1, 0}, 40, 24, 0},
                       {{5, 9}, 136, 144, 8},
                       {{0, 70}, 16, 264, 0},
                       {{33, 0, 2}, 9, 7, 0},
                       {{1, 17}, 64, 32, 3}};

template <typename T>
class GroupedProduct : public ::testing::Test {
 protected:
  struct Made {
    explicit Made(const Case& one)
        : counts(one.rows.begin(), one.rows.end()),
          total(std::accumulate(one.rows.begin(), one.rows.end(), std::int64_t{0})),
          weight_rows(std::ssize(one.rows) * one.out),
          x(random_tensor(total, one.in, 1), one.padding),
          dy(random_tensor(total, one.out, 2), one.padding),
          weight(random_tensor(weight_rows, one.in, 3), one.padding) {}
    DeviceCounts on_device() const { return {counts.data(), std::ssize(counts)}; }

    std::vector<std::int32_t> counts;
    std::int64_t total;
    std::int64_t weight_rows;
    DeviceValues<T> x, dy, weight;
  };
};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(GroupedProduct, Types);

TYPED_TEST(GroupedProduct, GoesForward) {
  using T = TypeParam;
  for (const Case& one : kCases) {
    typename TestFixture::Made on(one);
    Numbers expected(on.total, one.out);
    cpu::GroupedLinear<double>::forward(one.rows, on.x.numbers(), on.weight.numbers(), expected);
    DeviceValues<T> y(on.total, one.out, one.padding);
    simt::set_order_seed(static_cast<std::uint64_t>(one.in));
    grouped_forward<T>(on.on_device(), on.x.matrix(), on.weight.matrix(), y.matrix(), nullptr);
    expect_close(y.numbers(), expected, kTolerance<T>, "y");
  }
}

TYPED_TEST(GroupedProduct, GoesBackToItsInput) {
  using T = TypeParam;
  for (const Case& one : kCases) {
    typename TestFixture::Made on(one);
    Numbers expected(on.total, one.in);
    cpu::GroupedLinear<double>::backward_input(one.rows, on.dy.numbers(), on.weight.numbers(),
                                               expected);
    DeviceValues<T> dx(on.total, one.in, one.padding);
    simt::set_order_seed(static_cast<std::uint64_t>(one.in));
    grouped_backward_input<T>(on.on_device(), on.dy.matrix(), on.weight.matrix(), dx.matrix(),
                              nullptr);
    expect_close(dx.numbers(), expected, kTolerance<T>, "dx");
  }
}

// An expert without rows keeps the gradient that it has.
TYPED_TEST(GroupedProduct, AddsToItsWeights) {
  using T = TypeParam;
  for (const Case& one : kCases) {
    typename TestFixture::Made on(one);
    DeviceValues<float> dweight(random_tensor(on.weight_rows, one.in, 4));
    Numbers expected = dweight.numbers();
    cpu::GroupedLinear<double>::backward_weight(one.rows, on.x.numbers(), on.dy.numbers(),
                                                expected);
    simt::set_order_seed(static_cast<std::uint64_t>(one.in));
    grouped_backward_weight<T>(on.on_device(), on.x.matrix(), on.dy.matrix(), dweight.matrix(),
                               nullptr);
    expect_close(dweight.numbers(), expected, kTolerance<float>, "dweight");
  }
}

// The matrices have room for more rows than came: what is beyond them stays as it was.
TYPED_TEST(GroupedProduct, LeavesRowsOfNoExpert) {
  using T = TypeParam;
  const std::vector<std::int32_t> counts{2, 1};
  DeviceValues<T> x(random_tensor(200, 16, 1));
  DeviceValues<T> weight(random_tensor(2 * 8, 16, 2));
  DeviceValues<T> y(200, 8);
  grouped_forward<T>({counts.data(), 2}, x.matrix(), weight.matrix(), y.matrix(), nullptr);
  EXPECT_FALSE(std::isnan(to_float(y.matrix().row(2)[7])));
  for (std::int64_t row = 3; row < 200; ++row) {
    EXPECT_TRUE(std::isnan(to_float(y.matrix().row(row)[0]))) << row;
  }
}

TEST(Arrivals, AreSortedByExpertAndSource) {
  // Three sources of four experts; one source, whose rows stay where they are.
  for (const Counts& counts :
       {Counts{2, 0, 300, 1, 0, 0, 0, 0, 5, 1, 0, 270}, Counts{3, 0, 1, 2}}) {
    const auto rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    Counts order(static_cast<std::size_t>(rows), -1);
    Counts rows_of_expert(4, -1);
    cpu::order_arrivals(counts, order, rows_of_expert);
    const std::vector<std::int32_t> narrow(counts.begin(), counts.end());
    for (const auto seed : runner::testing::kSeeds) {
      simt::set_order_seed(seed);
      std::vector<std::int32_t> order_here(order.size(), -1);
      std::vector<std::int32_t> rows_here(4, -1);
      order_arrivals(
          {narrow.data(), std::ssize(counts) / 4, 4, order_here.data(), rows_here.data()}, nullptr);
      EXPECT_EQ(Counts(order_here.begin(), order_here.end()), order);
      EXPECT_EQ(Counts(rows_here.begin(), rows_here.end()), rows_of_expert);
    }
  }
}

TEST(Arrivals, OfTheCpuAreAPermutation) {
  const Counts counts{1, 2, 0, 2, 1, 1};  // two sources, three experts
  Counts order(7);
  Counts rows_of_expert(3);
  cpu::order_arrivals(counts, order, rows_of_expert);
  EXPECT_EQ(rows_of_expert, (Counts{3, 3, 1}));
  EXPECT_EQ(order, (Counts{0, 3, 4, 1, 2, 5, 6}));
}

}  // namespace
}  // namespace llmb::runner::kernels
