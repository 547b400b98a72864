// BucketLoad: how many positions of a training log will pass the tables of a bucket. Serves
// plan_fingerprints() only: it decides speed, never results.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parser/lines/bucket_filter.h"
#include "parser/lines/typical_log_text.h"

namespace llmb::parser {

// The values by which a filter's look-ups know the fingerprint of `literal` at `anchor`: one each,
// or, of bytes past its end, all that may stand there.
template <typename Filter>
class FingerprintValues {
 public:
  using Values = std::bitset<Filter::kValues>;

  FingerprintValues(std::string_view literal, std::size_t anchor);

  const Values& of(std::size_t lookup) const { return lookups_[lookup].values; }

  // Calls on_value(std::size_t) for each that is not among `known`.
  template <typename OnValue>
  void for_each_other(std::size_t lookup, const Values& known, OnValue on_value) const {
    const Lookup& own = lookups_[lookup];
    if (own.is_one) {
      if (!known[own.first]) on_value(std::size_t{own.first});
      return;
    }
    for (std::size_t value = 0; value < Filter::kValues; ++value) {
      if (own.values[value] && !known[value]) on_value(value);
    }
  }

 private:
  struct Lookup {
    Values values;
    bool is_one = false;  // `first` then, which spares a look at each
    std::uint8_t first = 0;
  };
  std::array<Lookup, Filter::kLookups> lookups_;
};

template <typename Filter>
class BucketLoad {
 public:
  // Lets such fingerprints pass, and all that shares values with one at each look-up.
  void add(const FingerprintValues<Filter>& fingerprint);

  // The share of positions that would pass in text that the page of typical text lacks, were the
  // look-ups of a position independent: with the fingerprint beside those that are here.
  double expected_rate_with(const FingerprintValues<Filter>& fingerprint) const;
  double expected_rate() const { return expected_rate_; }

  // The share of positions of the page itself.
  double counted_rate_with(const FingerprintValues<Filter>& fingerprint) const;
  double counted_rate() const { return counted_rate_; }

  bool is_empty() const { return lookups_[0].values.none(); }

  // Positions of the typical text: bit i of word w is position 64 w + i.
  static constexpr std::size_t kWords = (kTypicalLogText.size() + 63) / 64;
  using Positions = std::array<std::uint64_t, kWords>;

 private:
  using Values = std::bitset<Filter::kValues>;

  // What is allowed there, how often the typical text has it, and where.
  struct Lookup {
    Values values;
    double rate = 0;
    Positions positions{};
  };

  std::array<Lookup, Filter::kLookups> lookups_;
  double expected_rate_ = 0;
  double counted_rate_ = 0;
};

extern template class FingerprintValues<PairFilter>;
extern template class FingerprintValues<NibbleFilter>;
extern template class BucketLoad<PairFilter>;
extern template class BucketLoad<NibbleFilter>;

// How likely a log holds these bytes, by the pairs of adjacent bytes of the typical text: to
// compare places for a fingerprint at little cost.
double likelihood_in_log(std::string_view bytes);

}  // namespace llmb::parser
