#include "runner/cpu/attention.h"

#include <gtest/gtest.h>

#include <numeric>

#include "runner/cpu/rope.h"
#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

using testing::dot;
using testing::expect_gradient;
using testing::random_tensor;

std::vector<std::int64_t> positions_to(std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

// One output row of one head, as the formula is written.
std::vector<double> attend(const AttentionShape& shape, std::int64_t position, std::int64_t sample,
                           std::int64_t head, View<const double> q, std::int64_t query,
                           View<const double> k, View<const double> v) {
  const std::int64_t d = shape.head_size;
  const std::int64_t group = head / (shape.head_count / shape.group_count);
  std::vector<double> out(static_cast<std::size_t>(d));
  double sum = 0;
  const std::int64_t chunk = shape.chunk_size;
  for (std::int64_t key = chunk > 0 ? position - position % chunk : 0; key <= position; ++key) {
    double score = 0;
    for (std::int64_t j = 0; j < d; ++j) {
      score += q.row(query * shape.batch + sample)[head * d + j] *
               k.row(key * shape.batch + sample)[group * d + j];
    }
    const double weight = std::exp(score / std::sqrt(static_cast<double>(d)));
    sum += weight;
    for (std::int64_t j = 0; j < d; ++j) {
      out[j] += weight * v.row(key * shape.batch + sample)[group * d + j];
    }
  }
  for (double& value : out) value /= sum;
  return out;
}

void expect_formula(const AttentionShape& shape) {
  const std::int64_t keys = 150;
  std::vector<std::int64_t> positions = positions_to(keys);
  positions.erase(positions.begin() + 30, positions.begin() + 100);  // a rank's share of them
  const auto queries = static_cast<std::int64_t>(positions.size());
  const Tensor<double> q = random_tensor(queries * 2, 12, 1, -3, 3);
  const Tensor<double> k = random_tensor(keys * 2, 6, 2, -3, 3);
  const Tensor<double> v = random_tensor(keys * 2, 6, 3);
  Tensor<double> o(queries * 2, 12);
  Tensor<double> log_sum(queries * 2, 4);
  Attention<double>::forward(shape, positions, q, k, v, o, log_sum);
  for (std::int64_t query = 0; query < queries; ++query) {
    for (std::int64_t sample = 0; sample < 2; ++sample) {
      for (std::int64_t head = 0; head < 4; ++head) {
        const auto expected = attend(shape, positions[query], sample, head, q, query, k, v);
        for (std::int64_t j = 0; j < 3; ++j) {
          EXPECT_NEAR(o.view().row(query * 2 + sample)[head * 3 + j], expected[j], 1e-12);
        }
      }
    }
  }
}

TEST(Attention, EqualsTheFormulaOverSeveralBlocks) {
  expect_formula({2, 4, 2, 3});
}

// Chunks that end inside a block of queries, and chunks of several blocks.
TEST(Attention, SeesOnlyItsChunk) {
  expect_formula({2, 4, 2, 3, 17});
  expect_formula({2, 4, 2, 3, 128});
}

void expect_gradients(const AttentionShape& shape) {
  const std::vector<std::int64_t> positions = {0, 1, 4, 5};
  Tensor<double> q = random_tensor(8, 16, 1, -2, 2);
  Tensor<double> k = random_tensor(12, 8, 2, -2, 2);
  Tensor<double> v = random_tensor(12, 8, 3);
  const Tensor<double> d_o = random_tensor(8, 16, 4);
  Tensor<double> o(8, 16);
  Tensor<double> log_sum(8, 4);
  const auto loss = [&] {
    Attention<double>::forward(shape, positions, q, k, v, o, log_sum);
    return dot(o.values(), d_o.values());
  };
  loss();
  Tensor<double> dq(8, 16);
  Tensor<double> dk(12, 8);
  Tensor<double> dv(12, 8);
  Attention<double>::backward(shape, positions, q, k, v, o, log_sum, d_o, dq, dk, dv);
  expect_gradient(q.values(), dq.values(), loss, "dq");
  expect_gradient(k.values(), dk.values(), loss, "dk");
  expect_gradient(v.values(), dv.values(), loss, "dv");
}

TEST(Attention, HasTheGradientsOfFiniteDifferences) {
  expect_gradients({2, 4, 2, 4});
}

TEST(Attention, HasTheGradientsOfFiniteDifferencesInChunks) {
  expect_gradients({2, 4, 2, 4, 3});
}

TEST(Attention, AddsUpToTheWholeWhenQueriesAreShared) {
  const AttentionShape shape{1, 2, 1, 4};
  const Tensor<double> q = random_tensor(140, 8, 1);
  const Tensor<double> k = random_tensor(140, 4, 2);
  const Tensor<double> v = random_tensor(140, 4, 3);
  const Tensor<double> d_o = random_tensor(140, 8, 4);
  const auto run = [&](std::int64_t first, std::int64_t count) {
    auto positions = positions_to(140);
    positions = {positions.begin() + first, positions.begin() + first + count};
    const auto part = [&](const Tensor<double>& all) { return all.view().slice(first, count); };
    Tensor<double> o(count, 8);
    Tensor<double> log_sum(count, 2);
    Tensor<double> dq(count, 8);
    Tensor<double> dk(140, 4);
    Tensor<double> dv(140, 4);
    Attention<double>::forward(shape, positions, part(q), k, v, o, log_sum);
    Attention<double>::backward(shape, positions, part(q), k, v, o, log_sum, part(d_o), dq, dk, dv);
    return std::pair(dk, dv);
  };
  const auto whole = run(0, 140);
  const auto early = run(0, 50);
  const auto late = run(50, 90);
  for (std::int64_t i = 0; i < whole.first.size(); ++i) {
    EXPECT_NEAR(whole.first.data()[i], early.first.data()[i] + late.first.data()[i], 1e-12);
    EXPECT_NEAR(whole.second.data()[i], early.second.data()[i] + late.second.data()[i], 1e-12);
  }
}

TEST(Rope, LeavesScoresToTheDistanceOfPositions) {
  const auto score_at = [](std::int64_t query, std::int64_t key) {
    Tensor<double> x = random_tensor(2, 8, 1);
    Tensor<double> table(2, 8);
    Rope<double>::make_table(std::vector<std::int64_t>{query, key}, {1e4}, table);
    Rope<double>::forward(table, 1, 8, x);
    return dot(x.view().slice(0, 1).values(), x.view().slice(1, 1).values());
  };
  EXPECT_NEAR(score_at(9, 4), score_at(105, 100), 1e-12);
  EXPECT_GT(std::fabs(score_at(9, 4) - score_at(9, 5)), 1e-3);
}

// The three ranges of Llama 3.1's scaling, with numbers worked out by hand from its description:
// over 8192 positions, pair 0 of 64 turns 1304 times, pair 63 less than once.
TEST(Rope, ScalesSlowPairsOnly) {
  const RotaryFrequencies plain{5e5};
  const RotaryFrequencies scaled{5e5, 8, 1, 4, 8192};
  EXPECT_DOUBLE_EQ(scaled.of_pair(0, 64), 1);
  EXPECT_NEAR(scaled.of_pair(63, 64), plain.of_pair(63, 64) / 8, 1e-20);
  // Pair 31 turns 2.263 times: (2.263 - 1) / (4 - 1) of it stays.
  const double turns = 8192 * std::pow(5e5, -31.0 / 64) / (2 * 3.14159265358979);
  EXPECT_NEAR(turns, 2.263, 0.002);
  const double kept = (turns - 1) / 3;
  EXPECT_NEAR(scaled.of_pair(31, 64), plain.of_pair(31, 64) * (kept + (1 - kept) / 8), 1e-15);
  for (std::int64_t pair = 1; pair < 64; ++pair) {
    EXPECT_LT(scaled.of_pair(pair, 64), scaled.of_pair(pair - 1, 64));
  }
}

TEST(Rope, TurnsOnlyItsShareOfAHead) {
  Tensor<double> x = random_tensor(1, 8, 1);
  const Tensor<double> before = x;
  Tensor<double> table(1, 4);
  Rope<double>::make_table(std::vector<std::int64_t>{3}, {1e4}, table);
  Rope<double>::forward(table, 1, 8, x);
  EXPECT_NE(x.data()[0], before.data()[0]);
  EXPECT_NEAR(x.data()[0], before.data()[0] * std::cos(3.0) - before.data()[2] * std::sin(3.0),
              1e-15);
  for (std::int64_t j = 4; j < 8; ++j) EXPECT_EQ(x.data()[j], before.data()[j]);
}

TEST(Rope, HasTheGradientsOfFiniteDifferences) {
  Tensor<double> x = random_tensor(6, 16, 1);
  const Tensor<double> dy = random_tensor(6, 16, 2);
  Tensor<double> table(3, 4);
  Rope<double>::make_table(std::vector<std::int64_t>{0, 5, 7}, {1e4}, table);
  const auto loss = [&] {
    Tensor<double> y = x;
    Rope<double>::forward(table, 2, 8, y);
    return dot(y.values(), dy.values());
  };
  Tensor<double> dx = dy;
  Rope<double>::backward(table, 2, 8, dx);
  expect_gradient(x.values(), dx.values(), loss, "dx");
}

}  // namespace
}  // namespace llmb::runner::cpu
