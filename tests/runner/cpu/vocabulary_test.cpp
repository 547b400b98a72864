// Embedding and cross-entropy: the two operations over a vocabulary that ranks share out.
#include <gtest/gtest.h>

#include "runner/cpu/cross_entropy.h"
#include "runner/cpu/embedding.h"
#include "tests/runner/cpu/finite_difference.h"

namespace llmb::runner::cpu {
namespace {

using testing::dot;
using testing::expect_gradient;
using testing::random_tensor;
using testing::zeros;

TEST(Embedding, GivesZerosForTheTokensOfOthers) {
  const std::vector<std::int64_t> tokens = {3, 0, 5};
  const Tensor<double> slice = random_tensor(2, 4, 1);  // of tokens 2 and 3
  Tensor<double> y(3, 4);
  Embedding<double>::forward(tokens, 2, slice, y);
  for (std::int64_t j = 0; j < 4; ++j) {
    EXPECT_EQ(y.view().row(0)[j], slice.view().row(1)[j]);
    EXPECT_EQ(y.view().row(1)[j], 0);
    EXPECT_EQ(y.view().row(2)[j], 0);
  }
}

TEST(Embedding, HasTheGradientsOfFiniteDifferences) {
  const std::vector<std::int64_t> tokens = {3, 1, 3, 0, 9};
  Tensor<double> table = random_tensor(4, 3, 1);
  const Tensor<double> dy = random_tensor(5, 3, 2);
  const auto loss = [&] {
    Tensor<double> y(5, 3);
    Embedding<double>::forward(tokens, 0, table, y);
    return dot(y.values(), dy.values());
  };
  Tensor<double> dtable = zeros(4, 3);
  Embedding<double>::backward(tokens, 0, dy, dtable);
  expect_gradient(table.values(), dtable.values(), loss, "dtable");
}

struct LossOfSlices {
  std::vector<double> losses;
  Tensor<double> dlogits;  // of the whole vocabulary
};

// The loss over `slices` equal parts of the vocabulary, the all-reduces done by hand.
LossOfSlices run_sliced(const Tensor<double>& logits, const std::vector<std::int64_t>& targets,
                        std::int64_t slices, double scale) {
  const std::int64_t rows = logits.rows();
  const std::int64_t width = logits.cols() / slices;
  std::vector<Tensor<double>> parts;
  std::vector<double> maxima(static_cast<std::size_t>(rows), -1e300);
  for (std::int64_t s = 0; s < slices; ++s) {
    Tensor<double>& part = parts.emplace_back(rows, width);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(logits.view().row(i) + s * width, width, part.view().row(i));
    }
    std::vector<double> own(maxima.size());
    CrossEntropy<double>::local_max(part, own);
    for (std::size_t i = 0; i < own.size(); ++i) maxima[i] = std::max(maxima[i], own[i]);
  }
  Tensor<double> sums = zeros(rows, 2);
  for (std::int64_t s = 0; s < slices; ++s) {
    Tensor<double> own(rows, 2);
    CrossEntropy<double>::local_sums(parts[s], maxima, targets, s * width, own);
    for (std::int64_t i = 0; i < own.size(); ++i) sums.data()[i] += own.data()[i];
  }
  LossOfSlices result{std::vector<double>(maxima.size()), Tensor<double>(rows, logits.cols())};
  CrossEntropy<double>::losses(sums, result.losses);
  for (std::int64_t s = 0; s < slices; ++s) {
    CrossEntropy<double>::backward(parts[s], maxima, sums, targets, s * width, scale);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(parts[s].view().row(i), width, result.dlogits.view().row(i) + s * width);
    }
  }
  return result;
}

TEST(CrossEntropy, IsTheLogarithmOfTheVocabularyWhereNothingIsKnown) {
  Tensor<double> logits(2, 8);
  logits.fill(7);
  for (const double loss : run_sliced(logits, {1, 5}, 1, 1).losses) {
    EXPECT_NEAR(loss, std::log(8.0), 1e-14);
  }
}

TEST(CrossEntropy, IsTheSameOverAnySlices) {
  const Tensor<double> logits = random_tensor(5, 12, 1, -20, 20);
  const std::vector<std::int64_t> targets = {0, 11, 5, 6, 3};
  const LossOfSlices whole = run_sliced(logits, targets, 1, 0.25);
  for (const std::int64_t slices : {2, 3, 6}) {
    const LossOfSlices sliced = run_sliced(logits, targets, slices, 0.25);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      EXPECT_NEAR(sliced.losses[i], whole.losses[i], 1e-13);
    }
    for (std::int64_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(sliced.dlogits.data()[i], whole.dlogits.data()[i], 1e-14);
    }
  }
}

TEST(CrossEntropy, HasTheGradientsOfFiniteDifferences) {
  Tensor<double> logits = random_tensor(4, 6, 1, -2, 2);
  const std::vector<std::int64_t> targets = {0, 5, 2, 2};
  const auto loss = [&] {
    double sum = 0;
    for (const double value : run_sliced(logits, targets, 2, 1).losses) sum += 0.3 * value;
    return sum;
  };
  const Tensor<double> dlogits = run_sliced(logits, targets, 2, 0.3).dlogits;
  expect_gradient(logits.values(), dlogits.values(), loss, "dlogits");
}

}  // namespace
}  // namespace llmb::runner::cpu
