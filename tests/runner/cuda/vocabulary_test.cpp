// Cross-entropy, embedding and the order of rows: kernels against the CPU.
#include <gtest/gtest.h>

#include <vector>

#include "runner/cpu/cross_entropy.h"
#include "runner/cpu/embedding.h"
#include "runner/cpu/row_order.h"
#include "runner/kernels/cross_entropy.h"
#include "runner/kernels/embedding.h"
#include "runner/kernels/row_order.h"
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

template <typename T>
class Vocabulary : public ::testing::Test {};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Vocabulary, Types);

constexpr std::int64_t kRows = 4;
constexpr float kScale = 0.25F;

// Made when first asked for, in memory that a device reaches (tests/gpu/reachable_memory.cpp).
const std::vector<std::int32_t>& targets() {
  static const std::vector<std::int32_t> tokens = {0, 4099, 1700, 2300};
  return tokens;
}

std::vector<std::int64_t> wide(const std::vector<std::int32_t>& values) {
  return {values.begin(), values.end()};
}

struct Oracle {
  Numbers losses{kRows, 1};
  Numbers gradients;

  explicit Oracle(Numbers logits) : gradients(std::move(logits)) {
    Numbers maxima(kRows, 1);
    Numbers sums(kRows, 2);
    const auto tokens = wide(targets());
    cpu::CrossEntropy<double>::local_max(gradients, maxima.values());
    cpu::CrossEntropy<double>::local_sums(gradients, maxima.values(), tokens, 0, sums);
    cpu::CrossEntropy<double>::losses(sums, losses.values());
    cpu::CrossEntropy<double>::backward(gradients, maxima.values(), sums, tokens, 0, kScale);
  }
};

TYPED_TEST(Vocabulary, GivesLossAndGradientAtOnce) {
  using T = TypeParam;
  const float scale = kScale;
  for (const std::int64_t padding : {0, 5}) {
    const Numbers numbers = random_tensor(kRows, 4100 + padding, 1, -8, 8);
    const Oracle oracle(DeviceValues<T>(numbers).numbers());
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> logits(numbers, padding);
      DeviceValues<float> losses(kRows, 1);
      cross_entropy_fused<T>({logits.matrix(), targets().data(), &scale, losses.data()}, nullptr);
      expect_close(losses.numbers(), oracle.losses, kTolerance<float>, "losses");
      expect_close(logits.numbers(), oracle.gradients, kTolerance<T>, "gradients");
    }
  }
}

// Two ranks have 2051 tokens each; the sums over ranks are made by hand.
TYPED_TEST(Vocabulary, IsSharedByRanks) {
  using T = TypeParam;
  constexpr std::int64_t kCols = 2051;
  const float scale = kScale;
  const Numbers numbers = random_tensor(kRows, 2 * kCols, 2, -8, 8);
  const Oracle oracle(DeviceValues<T>(numbers).numbers());
  for (const auto seed : kSeeds) {
    simt::set_order_seed(seed);
    DeviceValues<T> all(numbers);
    std::vector<float> maxima[2], local_maxima[2], local_sums[2], sums[2];
    const auto logits = [&](int rank) { return all.matrix().columns(rank * kCols, kCols); };
    for (int rank = 0; rank < 2; ++rank) {
      maxima[rank].resize(kRows);
      local_maxima[rank].resize(kRows);
      local_sums[rank].resize(kRows);
      sums[rank].resize(2 * kRows);
      cross_entropy_statistics<T>(
          {logits(rank), local_maxima[rank].data(), local_sums[rank].data(), maxima[rank].data()},
          nullptr);
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      maxima[0][i] = maxima[1][i] = std::max(maxima[0][i], maxima[1][i]);
    }
    for (int rank = 0; rank < 2; ++rank) {
      cross_entropy_rebase<T>({logits(rank),
                               {targets().data(), rank * kCols},
                               local_maxima[rank].data(),
                               local_sums[rank].data(),
                               maxima[rank].data(),
                               sums[rank].data()},
                              nullptr);
    }
    for (std::size_t i = 0; i < 2 * kRows; ++i) sums[0][i] += sums[1][i];
    DeviceValues<float> losses(kRows, 1);
    cross_entropy_losses(sums[0].data(), kRows, losses.data(), nullptr);
    expect_close(losses.numbers(), oracle.losses, kTolerance<float>, "losses");
    for (int rank = 0; rank < 2; ++rank) {
      cross_entropy_backward<T>({logits(rank),
                                 {targets().data(), rank * kCols},
                                 maxima[0].data(),
                                 sums[0].data(),
                                 &scale},
                                nullptr);
    }
    expect_close(all.numbers(), oracle.gradients, kTolerance<T>, "gradients");
  }
}

TYPED_TEST(Vocabulary, EmbedsTokensAndAddsTheirGradients) {
  using T = TypeParam;
  // Some are another rank's, some occur more than once.
  const std::vector<std::int32_t> tokens = {12, 5, 10, 12, 20, 11, 10, 12, 9, 19};
  const auto rows = static_cast<std::int64_t>(tokens.size());
  for (const std::int64_t cols : {64, 2061}) {
    DeviceValues<T> table(random_tensor(10, cols, 1));
    DeviceValues<T> dy(random_tensor(rows, cols, 2));
    const Numbers before = random_tensor(10, cols, 3);
    Numbers y_expected(rows, cols);
    Numbers dtable_expected = DeviceValues<float>(before).numbers();
    cpu::Embedding<double>::forward(wide(tokens), 10, table.numbers(), y_expected);
    cpu::Embedding<double>::backward(wide(tokens), 10, dy.numbers(), dtable_expected);
    for (const auto seed : kSeeds) {
      simt::set_order_seed(seed);
      DeviceValues<T> y(rows, cols);
      DeviceValues<float> dtable(before);
      std::vector<std::int32_t> next(tokens.size());
      std::vector<std::int32_t> is_later(tokens.size());
      embedding_forward<T>({tokens.data(), 10, table.matrix(), y.matrix()}, nullptr);
      embedding_backward<T>(
          {tokens.data(), 10, dy.matrix(), dtable.matrix(), next.data(), is_later.data()}, nullptr);
      expect_close(y.numbers(), y_expected, 0, "y");
      expect_close(dtable.numbers(), dtable_expected, kTolerance<float>, "dtable");
    }
  }
}

TYPED_TEST(Vocabulary, OrdersRowsThereAndBack) {
  using T = TypeParam;
  const std::vector<std::int32_t> order = {3, 0, 4, 1, 2};
  for (const std::int64_t cols : {40, 37}) {
    DeviceValues<T> in(random_tensor(5, cols, 1), 3);
    Numbers taken_expected(5, cols);
    Numbers put_expected(5, cols);
    cpu::RowOrder<double>::take(wide(order), in.numbers(), taken_expected);
    cpu::RowOrder<double>::put(wide(order), in.numbers(), put_expected);
    DeviceValues<T> taken(5, cols);
    DeviceValues<T> put(5, cols);
    take_rows<T>(order.data(), in.matrix(), taken.matrix(), nullptr);
    put_rows<T>(order.data(), in.matrix(), put.matrix(), nullptr);
    expect_close(taken.numbers(), taken_expected, 0, "taken");
    expect_close(put.numbers(), put_expected, 0, "put");
  }
}

}  // namespace
}  // namespace llmb::runner::kernels
