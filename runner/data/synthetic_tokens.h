// Synthetic tokens that can be learnt: sequences of a fixed random Markov chain. What sample
// number n of step s holds depends on the seed, s and n only, so that every parallel layout, and
// a run that was resumed, sees the same data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace llmb::runner {

// `sequences` x (length + 1) tokens: position i's target is the token at i + 1.
struct TokenBatch {
  std::int64_t sequences = 0;
  std::int64_t length = 0;
  std::vector<std::int32_t> tokens;

  std::span<const std::int32_t> inputs(std::int64_t sequence) const { return part(sequence, 0); }
  std::span<const std::int32_t> targets(std::int64_t sequence) const { return part(sequence, 1); }

 private:
  std::span<const std::int32_t> part(std::int64_t sequence, std::int64_t shift) const {
    const auto first = static_cast<std::size_t>(sequence * (length + 1) + shift);
    return std::span(tokens).subspan(first, static_cast<std::size_t>(length));
  }
};

// Immutable; any thread may draw from it.
class SyntheticTokens {
 public:
  // Each token has as many successors, which differ.
  static constexpr std::int64_t kVocabularySizeMin = 4;

  // After token t comes one of `successors(t)`, the first of them most often: a model that has
  // learnt the chain reaches entropy_nats(), one that has not stays at log(vocabulary).
  SyntheticTokens(std::uint64_t seed, std::int64_t vocabulary_size);

  // Samples [first_sample, first_sample + count) of `step`, counted over the global batch.
  TokenBatch batch(std::int64_t step, std::int64_t first_sample, std::int64_t count,
                   std::int64_t length) const;

  // Of the next token, given the chain: the loss that cannot be beaten.
  static double entropy_nats();

 private:
  std::int32_t successor(std::int32_t token, std::uint64_t choice) const;

  std::uint64_t seed_;
  std::uint64_t vocabulary_size_;
};

}  // namespace llmb::runner
