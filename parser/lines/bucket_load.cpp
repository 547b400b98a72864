#include "parser/lines/bucket_load.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace llmb::parser {

namespace {

constexpr double kTextBytes{kTypicalLogText.size()};
constexpr double kSeldom = 0.5;  // of what the page lacks: once in two pages

std::uint8_t byte_of(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

// How often bytes and pairs of them are in the typical text.
struct ByteCounts {
  std::array<double, 256> rates{};
  std::array<std::array<std::uint8_t, 256>, 256> pairs{};

  ByteCounts() {
    for (std::size_t at = 0; at < kTypicalLogText.size(); ++at) {
      const std::uint8_t byte = byte_of(kTypicalLogText, at);
      rates[byte] += 1;
      if (at > 0) {
        std::uint8_t& count = pairs[byte_of(kTypicalLogText, at - 1)][byte];
        if (count < 255) ++count;
      }
    }
    for (double& rate : rates) rate = std::max(rate, kSeldom) / kTextBytes;
  }
};

const ByteCounts& byte_counts() {
  static const auto counts = std::make_unique<const ByteCounts>();
  return *counts;
}

// By look-up and value: at which positions of the typical text it is found, and how often.
template <typename Filter>
struct TextIndex {
  using Positions = typename BucketLoad<Filter>::Positions;
  struct Value {
    Positions positions{};
    double rate = 0;
  };
  std::array<std::array<Value, Filter::kValues>, Filter::kLookups> values{};

  TextIndex() {
    for (std::size_t lookup = 0; lookup < Filter::kLookups; ++lookup) {
      for (std::size_t at = 0; at + kFingerprintBytes <= kTypicalLogText.size(); ++at) {
        const unsigned first = byte_of(kTypicalLogText, at + Filter::first_byte(lookup));
        const unsigned second = byte_of(kTypicalLogText, at + Filter::second_byte(lookup));
        Value& value = values[lookup][Filter::value_of(lookup, first, second)];
        value.positions[at / 64] |= std::uint64_t{1} << (at % 64);
        value.rate += 1;
      }
      for (Value& value : values[lookup]) value.rate = std::max(value.rate, kSeldom) / kTextBytes;
    }
  }
};

template <typename Filter>
const TextIndex<Filter>& text_index() {
  static const auto index = std::make_unique<const TextIndex<Filter>>();
  return *index;
}

}  // namespace

template <typename Filter>
FingerprintValues<Filter>::FingerprintValues(std::string_view literal, std::size_t anchor) {
  const std::string_view bytes = literal.substr(anchor, kFingerprintBytes);
  const auto is_allowed = [&](std::size_t at, unsigned byte) {
    return at >= bytes.size() || byte == byte_of(bytes, at);
  };
  for (std::size_t lookup = 0; lookup < Filter::kLookups; ++lookup) {
    const std::size_t first_at = Filter::first_byte(lookup);
    const std::size_t second_at = Filter::second_byte(lookup);
    Lookup& own = lookups_[lookup];
    own.is_one = second_at < bytes.size();
    if (own.is_one) {
      const unsigned first = byte_of(bytes, first_at);
      own.first =
          static_cast<std::uint8_t>(Filter::value_of(lookup, first, byte_of(bytes, second_at)));
      own.values.set(own.first);
      continue;
    }
    for (unsigned first = 0; first < 256 && !own.values.all(); ++first) {
      if (!is_allowed(first_at, first)) continue;
      for (unsigned second = 0; second < 256 && !own.values.all(); ++second) {
        own.values.set(Filter::value_of(lookup, first, second));
      }
    }
  }
}

template <typename Filter>
void BucketLoad<Filter>::add(const FingerprintValues<Filter>& fingerprint) {
  expected_rate_ = expected_rate_with(fingerprint);
  counted_rate_ = counted_rate_with(fingerprint);
  for (std::size_t k = 0; k < Filter::kLookups; ++k) {
    Lookup& lookup = lookups_[k];
    fingerprint.for_each_other(k, lookup.values, [&](std::size_t value) {
      const auto& in_text = text_index<Filter>().values[k][value];
      lookup.rate += in_text.rate;
      for (std::size_t word = 0; word < kWords; ++word) {
        lookup.positions[word] |= in_text.positions[word];
      }
    });
    lookup.values |= fingerprint.of(k);
  }
}

template <typename Filter>
double BucketLoad<Filter>::expected_rate_with(const FingerprintValues<Filter>& fingerprint) const {
  double expected = 1;
  for (std::size_t k = 0; k < Filter::kLookups; ++k) {
    double rate = lookups_[k].rate;
    fingerprint.for_each_other(k, lookups_[k].values, [&](std::size_t value) {
      rate += text_index<Filter>().values[k][value].rate;
    });
    expected *= std::min(1.0, rate);
  }
  return expected;
}

template <typename Filter>
double BucketLoad<Filter>::counted_rate_with(const FingerprintValues<Filter>& fingerprint) const {
  Positions passed;
  passed.fill(~std::uint64_t{0});
  for (std::size_t k = 0; k < Filter::kLookups; ++k) {
    if (fingerprint.of(k).all()) continue;
    Positions allowed = lookups_[k].positions;
    fingerprint.for_each_other(k, lookups_[k].values, [&](std::size_t value) {
      const Positions& more = text_index<Filter>().values[k][value].positions;
      for (std::size_t word = 0; word < kWords; ++word) allowed[word] |= more[word];
    });
    for (std::size_t word = 0; word < kWords; ++word) passed[word] &= allowed[word];
  }
  std::size_t count = 0;
  for (const std::uint64_t word : passed) {
    if (word != 0) count += static_cast<std::size_t>(std::popcount(word));
  }
  return static_cast<double>(count) / kTextBytes;
}

template class FingerprintValues<PairFilter>;
template class FingerprintValues<NibbleFilter>;
template class BucketLoad<PairFilter>;
template class BucketLoad<NibbleFilter>;

double likelihood_in_log(std::string_view bytes) {
  constexpr double kOfBytes = 4;  // what the bytes' own rates count beside the pairs
  const ByteCounts& text = byte_counts();
  double likelihood = text.rates[byte_of(bytes, 0)];
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    const std::uint8_t before = byte_of(bytes, at - 1);
    const double rate = text.rates[byte_of(bytes, at)];
    likelihood *= (text.pairs[before][byte_of(bytes, at)] + kOfBytes * rate) /
                  (text.rates[before] * kTextBytes + kOfBytes);
  }
  return likelihood;
}

}  // namespace llmb::parser
