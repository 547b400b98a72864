// The fused projection cut into turned q, k and v, and joined again: kernels against the CPU.
#include <gtest/gtest.h>

#include <vector>

#include "runner/cpu/qkv_heads.h"
#include "runner/cpu/rope.h"
#include "runner/kernels/qkv_rope.h"
#include "tests/runner/cuda/device_values.h"

namespace llmb::runner::kernels {
namespace {

using runner::testing::DeviceValues;
using runner::testing::expect_close;
using runner::testing::kSeeds;
using runner::testing::kTolerance;
using runner::testing::random_tensor;
using runner::testing::zeros;
using Numbers = cpu::Tensor<double>;

struct Case {
  QkvShape shape;
  std::int64_t positions, turned, padding;
};
// Whole vectors; heads that no vector fits; a part that turns; nothing that turns.
constexpr Case kCases[] = {{{2, 2, 3, 32}, 3, 32, 0},
                           {{1, 1, 1, 10}, 4, 6, 3},
                           {{1, 2, 2, 64}, 2, 32, 8},
                           {{3, 1, 4, 20}, 2, 0, 0}};

Numbers table_of(std::int64_t positions, std::int64_t turned) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(positions));
  for (std::int64_t i = 0; i < positions; ++i) all[static_cast<std::size_t>(i)] = 7 * i + 2;
  Numbers table(positions, turned);
  cpu::Rope<double>::make_table(all, {}, table);
  return table;
}

template <typename T>
class QkvRope : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(QkvRope, Types);

TYPED_TEST(QkvRope, SplitsAndTurns) {
  using T = TypeParam;
  for (const auto& [shape, positions, turned, padding] : kCases) {
    const std::int64_t rows = positions * shape.batch;
    const std::int64_t key_cols = shape.group_count * shape.head_size;
    const std::int64_t query_cols = key_cols * shape.heads_per_group;
    DeviceValues<T> qkv(random_tensor(rows, query_cols + 2 * key_cols, 1), padding);
    DeviceValues<float> table(table_of(positions, turned));
    Numbers q_expected(rows, query_cols);
    Numbers k_expected(rows, key_cols);
    Numbers v_expected(rows, key_cols);
    cpu::QkvHeads<double>::split(shape.group_count, qkv.numbers(), q_expected, k_expected,
                                 v_expected);
    cpu::Rope<double>::forward(table.numbers(), shape.batch, shape.head_size, q_expected);
    cpu::Rope<double>::forward(table.numbers(), shape.batch, shape.head_size, k_expected);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> q(rows, query_cols);
      DeviceValues<T> k(rows, key_cols);
      DeviceValues<T> v(rows, key_cols, padding);
      qkv_rope_forward<T>({shape, qkv.matrix(), table.matrix(), q.matrix(), k.matrix(), v.matrix()},
                          nullptr);
      expect_close(q.numbers(), q_expected, kTolerance<T>, "q");
      expect_close(k.numbers(), k_expected, kTolerance<T>, "k");
      expect_close(v.numbers(), v_expected, 0, "v");
    }
  }
}

TYPED_TEST(QkvRope, TurnsBackAndJoins) {
  using T = TypeParam;
  for (const auto& [shape, positions, turned, padding] : kCases) {
    const std::int64_t rows = positions * shape.batch;
    const std::int64_t key_cols = shape.group_count * shape.head_size;
    const std::int64_t query_cols = key_cols * shape.heads_per_group;
    DeviceValues<T> dq(random_tensor(rows, query_cols, 1), padding);
    DeviceValues<T> dk(random_tensor(rows, key_cols, 2));
    DeviceValues<T> dv(random_tensor(rows, key_cols, 3));
    DeviceValues<float> table(table_of(positions, turned));
    Numbers dq_turned = dq.numbers();
    Numbers dk_turned = dk.numbers();
    cpu::Rope<double>::backward(table.numbers(), shape.batch, shape.head_size, dq_turned);
    cpu::Rope<double>::backward(table.numbers(), shape.batch, shape.head_size, dk_turned);
    Numbers expected(rows, query_cols + 2 * key_cols);
    cpu::QkvHeads<double>::join(shape.group_count, dq_turned, dk_turned, dv.numbers(), expected);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> dqkv(rows, expected.cols(), padding);
      qkv_rope_backward<T>(
          {shape, dq.matrix(), dk.matrix(), dv.matrix(), table.matrix(), dqkv.matrix()}, nullptr);
      expect_close(dqkv.numbers(), expected, kTolerance<T>, "dqkv");
    }
  }
}

TEST(RopeTable, HasTheAnglesOfTheCpu) {
  const std::vector<std::int32_t> positions = {0, 1, 8191};
  const std::vector<std::int64_t> wide(positions.begin(), positions.end());
  const cpu::RotaryFrequencies frequencies = {.base = 5e5, .scaling_factor = 8};
  std::vector<double> of_pairs;
  for (std::int64_t i = 0; i < 32; ++i) of_pairs.push_back(frequencies.of_pair(i, 32));
  Numbers expected(3, 64);
  cpu::Rope<double>::make_table(wide, frequencies, expected);
  DeviceValues<float> table(3, 64);
  make_rope_table({positions.data(), of_pairs.data(), table.matrix()}, nullptr);
  expect_close(table.numbers(), expected, 1e-7, "table");
}

}  // namespace
}  // namespace llmb::runner::kernels
