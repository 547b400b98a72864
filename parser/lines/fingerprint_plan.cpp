#include "parser/lines/fingerprint_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "parser/lines/bucket_load.h"

namespace llmb::parser {

namespace {

struct Choice {
  std::size_t bucket = 0;
  std::size_t anchor = 0;
};

// Puts each literal where it lets the fewest more positions pass.
template <typename Filter>
class Planner {
 public:
  // Uses the first `bucket_count` buckets only.
  Planner(const std::vector<std::string>& literals, std::size_t bucket_count)
      : literals_(literals),
        choices_(literals.size()),
        anchors_(literals.size()),
        loads_(bucket_count) {}

  std::vector<Choice> choose() {
    // The hardest to tell apart from a log's text come first: they shape the buckets.
    std::vector<std::pair<double, std::size_t>> hardest;
    for (std::size_t index = 0; index < literals_.size(); ++index) {
      hardest.emplace_back(-find_rarest_anchors(index), index);
    }
    std::sort(hardest.begin(), hardest.end());
    for (const auto& [likelihood, index] : hardest) place(index);
    return choices_;
  }

 private:
  using Values = FingerprintValues<Filter>;

  // A place for a literal, and how many more positions at least would pass.
  struct Place {
    double rise_min = 0;
    std::size_t bucket = 0;
    std::size_t anchor = 0;  // index into anchors_ of the literal
  };

  // Keeps the few best places for the literal's fingerprint; returns the likelihood of the best.
  double find_rarest_anchors(std::size_t index) {
    constexpr std::size_t kAnchorsMax = 8;
    const std::string_view literal = literals_[index];
    std::vector<std::pair<double, std::size_t>> rated;
    std::size_t anchor = 0;
    do {
      rated.emplace_back(likelihood_in_log(literal.substr(anchor, kFingerprintBytes)), anchor);
      ++anchor;
    } while (anchor + kFingerprintBytes <= literal.size());
    std::sort(rated.begin(), rated.end());
    if (rated.size() > kAnchorsMax) rated.resize(kAnchorsMax);
    for (const auto& [likelihood, at] : rated) anchors_[index].push_back(at);
    return rated.front().first;
  }

  void place(std::size_t index) {
    std::vector<Values> fingerprints;
    for (const std::size_t anchor : anchors_[index]) {
      fingerprints.emplace_back(literals_[index], anchor);
    }
    const Place best = best_of(places_of(fingerprints), fingerprints);
    loads_[best.bucket].add(fingerprints[best.anchor]);
    choices_[index] = {best.bucket, anchors_[index][best.anchor]};
  }

  std::vector<Place> places_of(const std::vector<Values>& fingerprints) const {
    std::vector<Place> places;
    bool empty_seen = false;  // one empty bucket is as good as another
    for (std::size_t bucket = 0; bucket < loads_.size(); ++bucket) {
      const BucketLoad<Filter>& load = loads_[bucket];
      if (load.is_empty() && std::exchange(empty_seen, true)) continue;
      for (std::size_t i = 0; i < fingerprints.size(); ++i) {
        const double rise = load.expected_rate_with(fingerprints[i]) - load.expected_rate();
        places.push_back({rise, bucket, i});
      }
    }
    std::ranges::stable_sort(places, {}, &Place::rise_min);
    return places;
  }

  // Counting costs most, and is left where the expectation alone decides.
  Place best_of(const std::vector<Place>& places, const std::vector<Values>& fingerprints) const {
    Place best = places.front();
    double least = kFingerprintBytes;  // more than any rise
    for (const Place& place : places) {
      if (place.rise_min >= least) break;
      const BucketLoad<Filter>& load = loads_[place.bucket];
      const double rise =
          place.rise_min + load.counted_rate_with(fingerprints[place.anchor]) - load.counted_rate();
      if (rise >= least) continue;
      least = rise;
      best = place;
    }
    return best;
  }

  const std::vector<std::string>& literals_;
  std::vector<Choice> choices_;
  std::vector<std::vector<std::size_t>> anchors_;  // by literal, the rarest first
  std::vector<BucketLoad<Filter>> loads_;
};

template <typename Filter>
void add_to_tables(FilterTables<Filter>& tables, const std::string& literal, const Choice& choice) {
  const FingerprintValues<Filter> fingerprint(literal, choice.anchor);
  const unsigned bit = 1U << (choice.bucket % kBucketsOfTable);
  auto& set = tables.sets[choice.bucket / kBucketsOfTable];
  for (std::size_t lookup = 0; lookup < Filter::kLookups; ++lookup) {
    fingerprint.for_each_other(lookup, {}, [&](std::size_t value) {
      set[lookup][value] = static_cast<std::uint8_t>(set[lookup][value] | bit);
    });
  }
}

template <typename Filter>
std::vector<Choice> plan_tables(const std::vector<std::string>& literals, std::size_t bucket_count,
                                FilterTables<Filter>& tables) {
  std::vector<Choice> choices = Planner<Filter>(literals, bucket_count).choose();
  for (std::size_t i = 0; i < choices.size(); ++i) add_to_tables(tables, literals[i], choices[i]);
  return choices;
}

bool uses_nibbles(ScanEngine engine) {
  return engine == ScanEngine::ssse3 || engine == ScanEngine::avx2 || engine == ScanEngine::neon;
}

// Which bucket does not matter to the portable engine, but that the fingerprints are rare does.
std::vector<Choice> plan_filter(FingerprintPlan& plan) {
  if (!uses_nibbles(plan.engine)) {
    return plan_tables(plan.literals, PairFilter::kBuckets, plan.pairs);
  }
  // Two sets of tables cost twice as much: few literals are told apart by one.
  constexpr std::size_t kLiteralsOfOneSet = 48;
  plan.nibble_set_count = plan.literals.size() <= kLiteralsOfOneSet ? 1 : plan.nibbles.sets.size();
  return plan_tables(plan.literals, plan.nibble_set_count * kBucketsOfTable, plan.nibbles);
}

FingerprintPlan::Member member_of(const std::string& literal, std::size_t index,
                                  std::size_t anchor) {
  FingerprintPlan::Member member;
  const std::size_t length = std::min(kFingerprintBytes, literal.size() - anchor);
  const std::array<std::uint8_t, kFingerprintBytes> ones = {0xff, 0xff, 0xff, 0xff,
                                                            0xff, 0xff, 0xff, 0xff};
  std::memcpy(&member.bytes, literal.data() + anchor, length);
  std::memcpy(&member.mask, ones.data(), length);
  member.literal = static_cast<std::uint32_t>(index);
  member.anchor = static_cast<std::uint32_t>(anchor);
  return member;
}

void sort_members(FingerprintPlan& plan) {
  const auto slot_of = [](const FingerprintPlan::Member& member) {
    return FingerprintPlan::slot_of(member.bytes);
  };
  std::ranges::stable_sort(plan.members, {}, slot_of);
  for (const FingerprintPlan::Member& member : plan.members) {
    ++plan.slot_begins[slot_of(member) + 1];
  }
  std::partial_sum(plan.slot_begins.begin(), plan.slot_begins.end(), plan.slot_begins.begin());
}

void plan_grams(FingerprintPlan& plan, const std::vector<Choice>& choices) {
  constexpr std::size_t kGramBytes = FingerprintPlan::kGramBytes;
  std::size_t shortest = kFingerprintBytes;
  for (const std::string& literal : plan.literals) shortest = std::min(shortest, literal.size());
  if (shortest < kGramBytes) return;
  plan.gram_stride = shortest - kGramBytes + 1;
  plan.gram_table.resize(std::size_t{1} << FingerprintPlan::kGramTableBits);
  for (std::size_t index = 0; index < choices.size(); ++index) {
    for (std::size_t k = 0; k < plan.gram_stride; ++k) {
      std::uint32_t gram = 0;
      std::memcpy(&gram, plan.literals[index].data() + choices[index].anchor + k, kGramBytes);
      plan.gram_table[FingerprintPlan::gram_slot(gram)] = 1;
    }
  }
}

}  // namespace

FingerprintPlan plan_fingerprints(std::vector<std::string> literals, ScanEngine engine) {
  if (literals.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw std::invalid_argument("literal scanner: more than 65,535 literals");
  }
  FingerprintPlan plan;
  plan.engine = engine;
  plan.literals = std::move(literals);
  const std::vector<Choice> choices = plan_filter(plan);
  for (std::size_t index = 0; index < choices.size(); ++index) {
    const std::string& literal = plan.literals[index];
    const std::size_t anchor = choices[index].anchor;
    const bool is_short = literal.size() < FingerprintPlan::kGramBytes;
    (is_short ? plan.short_members : plan.members).push_back(member_of(literal, index, anchor));
    plan.anchor_max = std::max(plan.anchor_max, anchor);
    plan.holds_line_end = plan.holds_line_end || literal.find_first_of("\r\n") != std::string::npos;
    plan.first_bytes[static_cast<std::uint8_t>(literal[anchor])] = true;
  }
  sort_members(plan);
  plan_grams(plan, choices);
  return plan;
}

}  // namespace llmb::parser
