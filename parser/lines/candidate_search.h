// CandidateSearch: one search of a block, as far as all engines share it: comparing the literals
// that a candidate may be, and knowing when no later candidate can be an earlier hit.
//
// Engines visit fingerprint positions in rising order. Literals have their fingerprints at
// different anchors, so the first hit found need not be the first in the block: once one is known,
// positions are visited up to its own plus the largest anchor. Where all literals of the block are
// asked for, all positions are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "parser/lines/fingerprint_plan.h"
#include "parser/lines/literal_set.h"

namespace llmb::parser {

class CandidateSearch {
 public:
  CandidateSearch(const FingerprintPlan& plan, std::string_view block, std::size_t from)
      : plan_(plan), block_(block), from_(from), end_(block.size()) {}
  // Gathers all literals of the block instead of the first.
  CandidateSearch(const FingerprintPlan& plan, std::string_view block, std::size_t from,
                  LiteralSet& found)
      : plan_(plan), block_(block), from_(from), end_(block.size()), found_(&found) {}

  const FingerprintPlan& plan() const { return plan_; }
  const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(block_.data()); }
  std::size_t size() const { return block_.size(); }
  std::size_t from() const { return from_; }
  std::size_t end() const { return end_; }  // fingerprint positions from here on cannot matter
  const std::optional<LiteralHit>& hit() const { return hit_; }

  // Compares the literals whose fingerprint begins at `position`.
  void check(std::size_t position) {
    const std::uint64_t here = bytes_at(position);
    for (const FingerprintPlan::Member& member : plan_.members_like(here)) {
      if (((here ^ member.bytes) & member.mask) == 0) compare(position, member);
    }
    for (const FingerprintPlan::Member& member : plan_.short_members) {
      if (((here ^ member.bytes) & member.mask) == 0) compare(position, member);
    }
  }

  // Those of the positions `at` + i for which bit i of `lanes` is set.
  void check_lanes(std::size_t at, std::uint64_t lanes) {
    for (; lanes != 0; lanes &= lanes - 1) {
      check(at + static_cast<std::size_t>(std::countr_zero(lanes)));
    }
  }

  // All positions from `position` to the end, one after the other: what is left at a block's end.
  void check_rest(std::size_t position) {
    for (; position < end_; ++position) check(position);
  }

 private:
  // As many as the block has; past its end zeros, which a literal may hold: compare() knows.
  std::uint64_t bytes_at(std::size_t position) const {
    std::uint64_t eight = 0;
    static_assert(sizeof eight == kFingerprintBytes);
    const std::size_t length = size() - position;
    // Of a constant length, which is one load, where it can be.
    if (length >= sizeof eight) {
      std::memcpy(&eight, bytes() + position, sizeof eight);
    } else {
      std::memcpy(&eight, bytes() + position, length);
    }
    return eight;
  }

  // `position`: where the member's fingerprint stands.
  void compare(std::size_t position, const FingerprintPlan::Member& member) {
    if (position < from_ + member.anchor) return;
    const std::size_t start = position - member.anchor;
    const std::uint32_t index = member.literal;
    const std::string& literal = plan_.literals[index];
    if (literal.size() > size() - start) return;
    if (std::memcmp(block_.data() + start, literal.data(), literal.size()) != 0) return;
    if (found_ != nullptr) return found_->add(index);
    if (hit_ && (hit_->position < start || (hit_->position == start && hit_->literal < index))) {
      return;
    }
    hit_ = LiteralHit{start, index};
    const std::size_t farthest = plan_.anchor_max;
    end_ = farthest < size() - start ? start + farthest + 1 : size();
  }

  const FingerprintPlan& plan_;
  std::string_view block_;
  std::size_t from_;
  std::size_t end_;
  std::optional<LiteralHit> hit_;
  LiteralSet* found_ = nullptr;
};

}  // namespace llmb::parser
