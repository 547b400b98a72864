#include "runner/data/synthetic_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "runner/data/counter_random.h"

namespace llmb::runner {
namespace {

// Tokens that occur at all, spread evenly over the vocabulary: so few that the first dozens of
// steps meet each of them often, so spread that every vocabulary shard holds some.
constexpr std::uint64_t kOccurringMax = 256;

// How often a token is followed by its first, second, … successor, in sixteenths.
constexpr std::array<std::uint64_t, 4> kSixteenths = {12, 2, 1, 1};
static_assert(kSixteenths.size() == SyntheticTokens::kVocabularySizeMin);

std::uint64_t occurring(std::uint64_t vocabulary_size) {
  return std::min(vocabulary_size, kOccurringMax);
}

}  // namespace

SyntheticTokens::SyntheticTokens(std::uint64_t seed, std::int64_t vocabulary_size)
    : seed_(combine_key(key_of("tokens"), seed)),
      vocabulary_size_(static_cast<std::uint64_t>(vocabulary_size)) {
  if (vocabulary_size < kVocabularySizeMin) {
    throw std::invalid_argument(
        fmt::format("a vocabulary of {} tokens is too small for the synthetic data, which needs {}",
                    vocabulary_size, kVocabularySizeMin));
  }
}

double SyntheticTokens::entropy_nats() {
  double nats = 0;
  for (const std::uint64_t sixteenths : kSixteenths) {
    const double probability = static_cast<double>(sixteenths) / 16.0;
    nats -= probability * std::log(probability);
  }
  return nats;
}

// `choice` is below 16. Successors of one token differ from each other.
std::int32_t SyntheticTokens::successor(std::int32_t token, std::uint64_t choice) const {
  std::uint64_t which = 0;
  while (choice >= kSixteenths[which]) choice -= kSixteenths[which++];
  const std::uint64_t count = occurring(vocabulary_size_);
  const std::uint64_t first = combine_key(seed_, static_cast<std::uint64_t>(token));
  const std::uint64_t index = (first % count + which) % count;
  return static_cast<std::int32_t>(index * (vocabulary_size_ / count));
}

TokenBatch SyntheticTokens::batch(std::int64_t step, std::int64_t first_sample, std::int64_t count,
                                  std::int64_t length) const {
  TokenBatch batch{count, length, {}};
  batch.tokens.reserve(static_cast<std::size_t>(count * (length + 1)));
  const std::uint64_t step_key = combine_key(seed_, static_cast<std::uint64_t>(step));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t key = combine_key(step_key, static_cast<std::uint64_t>(first_sample + i));
    std::int32_t token = successor(static_cast<std::int32_t>(key % vocabulary_size_), 0);
    batch.tokens.push_back(token);
    for (std::int64_t position = 1; position <= length; ++position) {
      token = successor(token, combine_key(key, static_cast<std::uint64_t>(position)) % 16);
      batch.tokens.push_back(token);
    }
  }
  return batch;
}

}  // namespace llmb::runner
