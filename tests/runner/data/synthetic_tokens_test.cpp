#include "runner/data/synthetic_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "runner/data/counter_random.h"

namespace llmb::runner {
namespace {

TEST(SyntheticTokens, AreTheSameHoweverTheBatchIsCut) {
  const SyntheticTokens tokens(7, 1000);
  const TokenBatch whole = tokens.batch(3, 0, 8, 32);
  for (std::int64_t sample = 0; sample < 8; ++sample) {
    const TokenBatch one = tokens.batch(3, sample, 1, 32);
    const auto expected = whole.inputs(sample);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), one.inputs(0).begin()));
    EXPECT_EQ(whole.targets(sample).back(), one.targets(0).back());
  }
  EXPECT_EQ(whole.inputs(2)[5], whole.targets(2)[4]);
}

TEST(SyntheticTokens, DifferWithSeedStepAndSample) {
  const SyntheticTokens tokens(7, 1000);
  const auto drawn = [](const SyntheticTokens& from, std::int64_t step, std::int64_t sample) {
    return from.batch(step, sample, 1, 64).tokens;
  };
  EXPECT_EQ(drawn(tokens, 0, 0), drawn(SyntheticTokens(7, 1000), 0, 0));
  const std::set<std::vector<std::int32_t>> different = {drawn(tokens, 0, 0), drawn(tokens, 0, 1),
                                                         drawn(tokens, 1, 0),
                                                         drawn(SyntheticTokens(8, 1000), 0, 0)};
  EXPECT_EQ(different.size(), 4U);
}

TEST(SyntheticTokens, StayInTheVocabularyAndReachItsEveryPart) {
  for (const std::int64_t vocabulary : {4, 5, 97, 256, 128256}) {
    const TokenBatch batch = SyntheticTokens(1, vocabulary).batch(0, 0, 64, 256);
    const auto [least, most] = std::minmax_element(batch.tokens.begin(), batch.tokens.end());
    EXPECT_GE(*least, 0);
    EXPECT_LT(*most, vocabulary);
    EXPECT_GT(*most, vocabulary / 2) << vocabulary;
  }
  EXPECT_THROW(SyntheticTokens(1, 3), std::invalid_argument);
}

// What a model can learn: the pair frequencies' conditional entropy is the stated one.
TEST(SyntheticTokens, HaveTheEntropyTheySay) {
  const TokenBatch batch = SyntheticTokens(3, 128).batch(0, 0, 256, 1024);
  std::map<std::int32_t, std::map<std::int32_t, double>> pairs;
  for (std::int64_t sample = 0; sample < batch.sequences; ++sample) {
    for (std::size_t i = 0; i < 1024; ++i) {
      pairs[batch.inputs(sample)[i]][batch.targets(sample)[i]] += 1;
    }
  }
  double nats = 0;
  for (const auto& [token, next] : pairs) {
    double sum = 0;
    for (const auto& [successor, count] : next) sum += count;
    for (const auto& [successor, count] : next) nats -= count * std::log(count / sum);
    EXPECT_LE(next.size(), 4U);
  }
  EXPECT_NEAR(nats / (256.0 * 1024.0), SyntheticTokens::entropy_nats(), 0.01);
  EXPECT_LT(SyntheticTokens::entropy_nats(), 1.0);
}

TEST(CounterRandom, NormalsHaveMeanZeroAndDeviationOne) {
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = normal_at(key_of("weights"), static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
}

}  // namespace
}  // namespace llmb::runner
