#include "parser/lines/fingerprint_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "parser/lines/byte_frequency.h"

namespace llmb::parser {

namespace {

using Member = FingerprintPlan::Member;

// Which nibbles occur at each byte of a bucket's fingerprints.
struct NibbleSets {
  std::array<std::uint16_t, kFingerprintBytes> low{};
  std::array<std::uint16_t, kFingerprintBytes> high{};

  void add(const std::string& literal, std::size_t anchor) {
    for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
      if (anchor + k >= literal.size()) {
        low[k] = high[k] = 0xffff;
        continue;
      }
      const auto byte = static_cast<std::uint8_t>(literal[anchor + k]);
      low[k] = static_cast<std::uint16_t>(low[k] | 1U << (byte & 0xf));
      high[k] = static_cast<std::uint16_t>(high[k] | 1U << (byte >> 4));
    }
  }

  // The share of a log's positions that pass these sets, were its bytes independent.
  double pass_rate() const {
    constexpr double kParts = 60000;
    double rate = 1;
    for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
      std::uint32_t parts = 0;
      for (unsigned highs = high[k]; highs != 0; highs &= highs - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(highs)) * 16;
        for (unsigned lows = low[k]; lows != 0; lows &= lows - 1) {
          parts += kByteFrequency[row + static_cast<std::size_t>(std::countr_zero(lows))];
        }
      }
      rate *= std::min(1.0, parts / kParts);
    }
    return rate;
  }
};

struct Choice {
  std::size_t bucket = 0;
  std::size_t anchor = 0;
};

// Puts each literal where it raises the number of candidates least, and then moves each once more.
class Planner {
 public:
  explicit Planner(const std::vector<std::string>& literals)
      : literals_(literals), choices_(literals.size()), anchors_(literals.size()) {
    for (std::size_t index = 0; index < literals.size(); ++index) {
      anchors_[index] = rarest_anchors(literals[index]);
    }
  }

  std::vector<Choice> choose() {
    // The hardest to tell apart from a log's text come first: they shape the buckets.
    std::vector<std::size_t> order(literals_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> rates;
    for (std::size_t index : order) rates.push_back(alone(index, anchors_[index].front()));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rates[a] > rates[b]; });

    for (const std::size_t index : order) place(index);
    for (const std::size_t index : order) {
      auto& members = members_[choices_[index].bucket];
      members.erase(std::find(members.begin(), members.end(), index));
      place(index);
    }
    return choices_;
  }

 private:
  double alone(std::size_t index, std::size_t anchor) const {
    NibbleSets sets;
    sets.add(literals_[index], anchor);
    return sets.pass_rate();
  }

  static std::vector<std::size_t> rarest_anchors(const std::string& literal) {
    constexpr std::size_t kAnchorsMax = 8;
    std::vector<std::pair<double, std::size_t>> rated;
    std::size_t anchor = 0;
    do {
      NibbleSets sets;
      sets.add(literal, anchor);
      rated.emplace_back(sets.pass_rate(), anchor);
      ++anchor;
    } while (anchor + kFingerprintBytes <= literal.size());
    std::sort(rated.begin(), rated.end());
    if (rated.size() > kAnchorsMax) rated.resize(kAnchorsMax);
    std::vector<std::size_t> anchors;
    anchors.reserve(rated.size());
    for (const auto& [rate, at] : rated) anchors.push_back(at);
    return anchors;
  }

  NibbleSets sets_of(std::size_t bucket) const {
    NibbleSets sets;
    for (const std::size_t member : members_[bucket]) {
      sets.add(literals_[member], choices_[member].anchor);
    }
    return sets;
  }

  void place(std::size_t index) {
    // What a candidate costs rises with the members that it is compared with.
    const auto cost = [](const NibbleSets& sets, std::size_t members) {
      constexpr double kCandidateCost = 4;
      return members == 0 ? 0 : sets.pass_rate() * (kCandidateCost + static_cast<double>(members));
    };
    double least = -1;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      const NibbleSets before = sets_of(bucket);
      const std::size_t members = members_[bucket].size();
      const double cost_before = cost(before, members);
      for (const std::size_t anchor : anchors_[index]) {
        NibbleSets after = before;
        after.add(literals_[index], anchor);
        const double rise = cost(after, members + 1) - cost_before;
        if (least >= 0 && rise >= least) continue;
        least = rise;
        choices_[index] = {bucket, anchor};
      }
    }
    members_[choices_[index].bucket].push_back(index);
  }

  const std::vector<std::string>& literals_;
  std::vector<Choice> choices_;
  std::vector<std::vector<std::size_t>> anchors_;  // by literal, the rarest first
  std::array<std::vector<std::size_t>, kBuckets> members_;
};

void add_to_tables(FingerprintPlan& plan, const std::string& literal, const Choice& choice) {
  const auto bit = static_cast<std::uint8_t>(1U << choice.bucket);
  const auto allow = [bit](std::uint8_t& entry) { entry = static_cast<std::uint8_t>(entry | bit); };
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    if (choice.anchor + k >= literal.size()) {
      for (std::uint8_t& entry : plan.byte_tables[k]) allow(entry);
      for (std::uint8_t& entry : plan.low_nibble_tables[k]) allow(entry);
      for (std::uint8_t& entry : plan.high_nibble_tables[k]) allow(entry);
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(literal[choice.anchor + k]);
    allow(plan.byte_tables[k][byte]);
    allow(plan.low_nibble_tables[k][byte & 0xf]);
    allow(plan.high_nibble_tables[k][byte >> 4]);
  }
}

}  // namespace

FingerprintPlan plan_fingerprints(std::vector<std::string> literals) {
  FingerprintPlan plan;
  plan.literals = std::move(literals);
  const std::vector<Choice> choices = Planner(plan.literals).choose();
  for (std::size_t index = 0; index < choices.size(); ++index) {
    const std::string& literal = plan.literals[index];
    const Choice& choice = choices[index];
    plan.buckets[choice.bucket].push_back(
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(choice.anchor)});
    plan.anchor_max = std::max(plan.anchor_max, choice.anchor);
    add_to_tables(plan, literal, choice);

    FingerprintPlan::BytePair pair;
    pair.first = static_cast<std::uint8_t>(literal[choice.anchor]);
    pair.any_second = literal.size() == 1;
    if (!pair.any_second) pair.second = static_cast<std::uint8_t>(literal[choice.anchor + 1]);
    if (std::find(plan.pairs.begin(), plan.pairs.end(), pair) == plan.pairs.end()) {
      plan.pairs.push_back(pair);
    }
  }
  return plan;
}

}  // namespace llmb::parser
