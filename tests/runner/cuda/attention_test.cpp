// Tiled attention: kernels against the CPU, on whole sequences and on pieces of them.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "runner/cpu/attention.h"
#include "runner/kernels/attention.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using Numbers = cpu::Tensor<double>;

struct Case {
  std::int64_t batch, heads, groups, head_size, chunk_size;
  std::vector<std::int32_t> positions;
  std::int64_t keys;
};

std::vector<std::int32_t> range(std::int32_t begin, std::int32_t end) {
  std::vector<std::int32_t> result;
  for (std::int32_t i = begin; i < end; ++i) result.push_back(i);
  return result;
}

std::vector<Case> cases() {
  // Of 48 positions, an early and a late piece.
  std::vector<std::int32_t> pieces = range(6, 12);
  for (const std::int32_t late : range(36, 42)) pieces.push_back(late);
  return {{1, 2, 1, 16, 0, range(0, 45), 45},   // grouped queries, odd lengths
          {2, 1, 1, 33, 0, pieces, 48},         // samples, no vector, the pieces
          {1, 1, 1, 136, 0, range(0, 9), 9},    // large heads
          {1, 2, 2, 8, 10, range(0, 50), 50}};  // chunks
}

// Against probabilities that are not rounded: BF16 is allowed what that rounding makes of them.
template <typename T>
constexpr double kAttentionTolerance = kTolerance<T>;
template <>
constexpr double kAttentionTolerance<Bf16> = 2e-2;

template <typename T>
struct Inputs {
  explicit Inputs(const Case& one)
      : q(random_tensor(rows(one), one.heads * one.head_size, 1, -2, 2)),
        k(random_tensor(one.keys * one.batch, one.groups * one.head_size, 2, -2, 2)),
        v(random_tensor(one.keys * one.batch, one.groups * one.head_size, 3)) {}
  static std::int64_t rows(const Case& one) {
    return static_cast<std::int64_t>(one.positions.size()) * one.batch;
  }

  DeviceValues<T> q, k, v;
};

AttentionShape shape_of(const Case& one) {
  return {one.batch,
          one.heads,
          one.groups,
          one.head_size,
          one.chunk_size,
          one.positions.data(),
          static_cast<std::int64_t>(one.positions.size())};
}
cpu::AttentionShape cpu_shape_of(const Case& one) {
  return {one.batch, one.heads, one.groups, one.head_size, one.chunk_size};
}

template <typename T>
class Attention : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Attention, Types);

TYPED_TEST(Attention, GivesWhatTheCpuGives) {
  using T = TypeParam;
  for (const Case& one : cases()) {
    Inputs<T> in(one);
    const std::vector<std::int64_t> positions(one.positions.begin(), one.positions.end());
    const std::int64_t rows = in.rows(one);
    Numbers o_expected(rows, one.heads * one.head_size);
    Numbers log_sums_expected(rows, one.heads);
    cpu::Attention<double>::forward(cpu_shape_of(one), positions, in.q.numbers(), in.k.numbers(),
                                    in.v.numbers(), o_expected, log_sums_expected);
    for (const auto seed : {1, 2}) {
      simt::set_order_seed(static_cast<std::uint64_t>(seed));
      DeviceValues<T> o(rows, o_expected.cols(), 3);
      DeviceValues<float> log_sums(rows, one.heads);
      attention_forward<T>(
          {shape_of(one), in.q.matrix(), in.k.matrix(), in.v.matrix(), o.matrix(), log_sums.data()},
          nullptr);
      expect_close(o.numbers(), o_expected, kAttentionTolerance<T>, "o");
      expect_close(log_sums.numbers(), log_sums_expected, kTolerance<float>, "log_sums");
    }
  }
}

TYPED_TEST(Attention, GoesBack) {
  using T = TypeParam;
  for (const Case& one : cases()) {
    Inputs<T> in(one);
    const std::vector<std::int64_t> positions(one.positions.begin(), one.positions.end());
    const std::int64_t rows = in.rows(one);
    DeviceValues<T> d_o(random_tensor(rows, one.heads * one.head_size, 4));
    Numbers o_numbers(rows, one.heads * one.head_size);
    Numbers log_sum_numbers(rows, one.heads);
    cpu::Attention<double>::forward(cpu_shape_of(one), positions, in.q.numbers(), in.k.numbers(),
                                    in.v.numbers(), o_numbers, log_sum_numbers);
    DeviceValues<T> o(o_numbers);
    DeviceValues<float> log_sums(log_sum_numbers);
    Numbers dq_expected(rows, o_numbers.cols());
    Numbers dk_expected(one.keys * one.batch, one.groups * one.head_size);
    Numbers dv_expected(dk_expected.rows(), dk_expected.cols());
    cpu::Attention<double>::backward(cpu_shape_of(one), positions, in.q.numbers(), in.k.numbers(),
                                     in.v.numbers(), o.numbers(), log_sum_numbers, d_o.numbers(),
                                     dq_expected, dk_expected, dv_expected);
    for (const auto seed : {1, 2}) {
      simt::set_order_seed(static_cast<std::uint64_t>(seed));
      DeviceValues<T> dq(rows, dq_expected.cols(), 1);
      DeviceValues<T> dk(dk_expected.rows(), dk_expected.cols());
      DeviceValues<T> dv(dk_expected.rows(), dk_expected.cols());
      DeviceValues<float> dots(rows, one.heads);
      attention_backward<T>(
          {shape_of(one), in.q.matrix(), in.k.matrix(), in.v.matrix(), o.matrix(), log_sums.data(),
           d_o.matrix(), dq.matrix(), dk.matrix(), dv.matrix(), dots.data()},
          nullptr);
      expect_close(dq.numbers(), dq_expected, kAttentionTolerance<T>, "dq");
      expect_close(dk.numbers(), dk_expected, kAttentionTolerance<T>, "dk");
      expect_close(dv.numbers(), dv_expected, kAttentionTolerance<T>, "dv");
    }
  }
}

TEST(AttentionKernel, RefusesHeadsThatDoNotFit) {
  DeviceValues<float> q(1, 264);
  std::vector<std::int32_t> positions = {0};
  float log_sum = 0;
  EXPECT_THROW(attention_forward<float>({{1, 1, 1, 264, 0, positions.data(), 1},
                                         q.matrix(),
                                         q.matrix(),
                                         q.matrix(),
                                         q.matrix(),
                                         &log_sum},
                                        nullptr),
               std::invalid_argument);
}

}  // namespace
}  // namespace llmb::runner::kernels
