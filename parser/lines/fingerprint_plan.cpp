#include "parser/lines/fingerprint_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parser/lines/bucket_load.h"

namespace llmb::parser {

namespace {

struct Choice {
  std::size_t bucket = 0;
  std::size_t anchor = 0;
};

// Puts each literal where it raises the cost of candidates least, then moves each once more.
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

    for (const auto& [rate, index] : hardest) place(index);
    for (const auto& [rate, index] : hardest) {
      take_out(index);
      place(index);
    }
    return choices_;
  }

 private:
  // Keeps the few best places for the literal's fingerprint; returns the pass rate of the best.
  double find_rarest_anchors(std::size_t index) {
    constexpr std::size_t kAnchorsMax = 6;
    const std::string& literal = literals_[index];
    std::vector<std::pair<double, std::size_t>> rated;
    std::size_t anchor = 0;
    do {
      rated.emplace_back(BucketLoad().pass_rate_with(literal, anchor), anchor);
      ++anchor;
    } while (anchor + kFingerprintBytes <= literal.size());
    std::sort(rated.begin(), rated.end());
    if (rated.size() > kAnchorsMax) rated.resize(kAnchorsMax);
    for (const auto& [rate, at] : rated) anchors_[index].push_back(at);
    return rated.front().first;
  }

  // What a candidate costs rises with the members that it is compared with.
  static double cost(double pass_rate, std::size_t members) {
    constexpr double kCandidateCost = 4;
    return pass_rate * (kCandidateCost + static_cast<double>(members));
  }

  BucketLoad load_of(const std::vector<std::size_t>& members) const {
    BucketLoad load;
    for (const std::size_t member : members) load.add(literals_[member], choices_[member].anchor);
    return load;
  }

  void take_out(std::size_t index) {
    const std::size_t bucket = choices_[index].bucket;
    std::vector<std::size_t>& members = members_[bucket];
    members.erase(std::find(members.begin(), members.end(), index));
    costs_[bucket] = 0;
    if (members.empty()) return;
    const BucketLoad load = load_of(members);
    const std::size_t any = members.front();  // a member already: adds nothing
    costs_[bucket] =
        cost(load.pass_rate_with(literals_[any], choices_[any].anchor), load.members());
  }

  void place(std::size_t index) {
    double least = -1;
    bool empty_seen = false;  // one empty bucket is as good as another
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      if (members_[bucket].empty() && std::exchange(empty_seen, true)) continue;
      const BucketLoad load = load_of(members_[bucket]);
      const double cost_before = costs_[bucket];
      for (const std::size_t anchor : anchors_[index]) {
        const double rate = load.pass_rate_with(literals_[index], anchor);
        const double rise = cost(rate, load.members() + 1) - cost_before;
        if (least >= 0 && rise >= least) continue;
        least = rise;
        choices_[index] = {bucket, anchor};
      }
    }
    members_[choices_[index].bucket].push_back(index);
    costs_[choices_[index].bucket] += least;
  }

  const std::vector<std::string>& literals_;
  std::vector<Choice> choices_;
  std::vector<std::vector<std::size_t>> anchors_;  // by literal, the rarest first
  std::array<std::vector<std::size_t>, kBuckets> members_;
  std::array<double, kBuckets> costs_{};
};

void add_to_tables(FingerprintPlan& plan, const std::string& literal, std::size_t bucket,
                   std::size_t anchor) {
  const auto bit = static_cast<std::uint8_t>(1U << bucket);
  const auto allow = [bit](std::uint8_t& entry) { entry = static_cast<std::uint8_t>(entry | bit); };
  for (std::size_t k = 0; k < kFingerprintBytes; ++k) {
    if (anchor + k >= literal.size()) {
      for (std::uint8_t& entry : plan.byte_tables[k]) allow(entry);
      for (std::uint8_t& entry : plan.low_nibble_tables[k]) allow(entry);
      for (std::uint8_t& entry : plan.high_nibble_tables[k]) allow(entry);
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(literal[anchor + k]);
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
    const std::size_t bucket = choices[index].bucket;
    const std::size_t anchor = choices[index].anchor;
    plan.buckets[bucket].push_back(
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(anchor)});
    plan.anchor_max = std::max(plan.anchor_max, anchor);
    add_to_tables(plan, literal, bucket, anchor);

    FingerprintPlan::BytePair pair;
    pair.first = static_cast<std::uint8_t>(literal[anchor]);
    pair.any_second = literal.size() == 1;
    if (!pair.any_second) pair.second = static_cast<std::uint8_t>(literal[anchor + 1]);
    if (std::find(plan.pairs.begin(), plan.pairs.end(), pair) == plan.pairs.end()) {
      plan.pairs.push_back(pair);
    }
  }
  return plan;
}

}  // namespace llmb::parser
