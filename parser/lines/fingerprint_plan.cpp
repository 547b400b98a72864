#include "parser/lines/fingerprint_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "parser/lines/bucket_load.h"

namespace llmb::parser {

namespace {

struct Choice {
  std::size_t bucket = 0;
  std::size_t anchor = 0;
};

// Puts each literal where it lets the fewest more positions pass.
class Planner {
 public:
  explicit Planner(const std::vector<std::string>& literals)
      : literals_(literals), choices_(literals.size()), anchors_(literals.size()) {}

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
    const std::string& literal = literals_[index];
    double least = kFingerprintBytes;  // more than any rise
    bool empty_seen = false;           // one empty bucket is as good as another
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      if (pass_rates_[bucket] == 0 && std::exchange(empty_seen, true)) continue;
      for (const std::size_t anchor : anchors_[index]) {
        const double limit = pass_rates_[bucket] + least;
        const double rise =
            (*loads_)[bucket].pass_rate_with(literal, anchor, limit) - pass_rates_[bucket];
        if (rise >= least) continue;
        least = rise;
        choices_[index] = {bucket, anchor};
      }
    }
    const Choice choice = choices_[index];
    (*loads_)[choice.bucket].add(literal, choice.anchor);
    pass_rates_[choice.bucket] += least;
  }

  const std::vector<std::string>& literals_;
  std::vector<Choice> choices_;
  std::vector<std::vector<std::size_t>> anchors_;  // by literal, the rarest first
  // 0: nothing in it yet. Large, so not on the stack.
  std::unique_ptr<std::array<BucketLoad, kBuckets>> loads_ =
      std::make_unique<std::array<BucketLoad, kBuckets>>();
  std::array<double, kBuckets> pass_rates_{};
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

void add_member(FingerprintPlan& plan, const FingerprintPlan::Member& member, std::size_t bucket) {
  if (~member.mask == 0) {
    plan.whole_members.push_back(member);
  } else {
    plan.short_members[bucket].push_back(member);
    plan.short_buckets |= 1U << bucket;
  }
}

void sort_whole_members(FingerprintPlan& plan) {
  const auto slot_of = [](const FingerprintPlan::Member& member) {
    return FingerprintPlan::slot_of(member.bytes);
  };
  std::ranges::stable_sort(plan.whole_members, {}, slot_of);
  for (const FingerprintPlan::Member& member : plan.whole_members) {
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

FingerprintPlan plan_fingerprints(std::vector<std::string> literals) {
  FingerprintPlan plan;
  plan.literals = std::move(literals);
  const std::vector<Choice> choices = Planner(plan.literals).choose();
  for (std::size_t index = 0; index < choices.size(); ++index) {
    const std::string& literal = plan.literals[index];
    const Choice& choice = choices[index];
    add_member(plan, member_of(literal, index, choice.anchor), choice.bucket);
    plan.anchor_max = std::max(plan.anchor_max, choice.anchor);
    plan.holds_line_end = plan.holds_line_end || literal.find_first_of("\r\n") != std::string::npos;
    add_to_tables(plan, literal, choice);
  }
  sort_whole_members(plan);
  plan_grams(plan, choices);
  return plan;
}

}  // namespace llmb::parser
