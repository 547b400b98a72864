// DistanceSum: how far values lie from their median in all, while they are added one by one in any
// order. All that may come is known before, and its places in rising order, so that the median
// moves from one value that is there to the next.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace llmb::parser {

// A series: value i is sorted[places[i]], and `sorted` rises. Nothing in it is NaN.
struct PlacedValues {
  std::vector<double> sorted;
  std::vector<std::uint32_t> places;
};

// `placed` keeps its memory from one series to the next.
void place_values(std::span<const double> values, PlacedValues& placed);

class DistanceSum {
 public:
  // `sorted`: as in PlacedValues; it outlives what is added.
  explicit DistanceSum(std::span<const double> sorted)
      : sorted_(sorted), present_(sorted.size() / kWordBits + 1) {}

  void clear() {
    std::fill(present_.begin(), present_.end(), 0);
    low_sum_ = high_sum_ = 0;
    low_is_longer_ = false;
    count_ = 0;
  }

  // Adds what stands at this place of `sorted`, once at most, and returns the sum.
  double add(std::uint32_t place) {
    const double value = sorted_[place];
    present_[place / kWordBits] |= std::uint64_t{1} << place % kWordBits;
    const bool is_first = count_++ == 0;
    if (is_first || value <= sorted_[middle_]) {
      // Of equal values the one that stands higher may have come now.
      if (is_first) {
        middle_ = place;
      } else if (place > middle_) {
        middle_ = next_above(middle_);
      }
      low_sum_ += value;
      if (low_is_longer_) move_middle_to_high();
    } else {
      high_sum_ += value;
      if (!low_is_longer_) move_next_to_low();
    }
    low_is_longer_ = !low_is_longer_;
    return high_sum_ - (low_is_longer_ ? low_sum_ - sorted_[middle_] : low_sum_);
  }

 private:
  static constexpr std::uint32_t kWordBits = 64;

  void move_middle_to_high() {
    low_sum_ -= sorted_[middle_];
    high_sum_ += sorted_[middle_];
    middle_ = next_below(middle_);
  }
  void move_next_to_low() {
    middle_ = next_above(middle_);
    high_sum_ -= sorted_[middle_];
    low_sum_ += sorted_[middle_];
  }
  // The nearest place that is there; there has to be one.
  std::uint32_t next_above(std::uint32_t place) const {
    std::uint32_t word = ++place / kWordBits;
    std::uint64_t bits = present_[word] & (~std::uint64_t{0} << place % kWordBits);
    while (bits == 0) bits = present_[++word];
    return word * kWordBits + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  std::uint32_t next_below(std::uint32_t place) const {
    std::uint32_t word = --place / kWordBits;
    std::uint64_t bits =
        present_[word] & (~std::uint64_t{0} >> (kWordBits - 1 - place % kWordBits));
    while (bits == 0) bits = present_[--word];
    return word * kWordBits + kWordBits - 1 - static_cast<std::uint32_t>(std::countl_zero(bits));
  }

  std::span<const double> sorted_;
  std::vector<std::uint64_t> present_;  // a bit for each place
  // The lower half of what was added, the middle one with it where there is one, and the rest.
  double low_sum_ = 0;
  double high_sum_ = 0;
  std::uint32_t middle_ = 0;  // the highest place of the lower half
  std::uint32_t count_ = 0;
  bool low_is_longer_ = false;
};

}  // namespace llmb::parser
