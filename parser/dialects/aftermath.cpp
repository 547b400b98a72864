#include "parser/dialects/aftermath.h"

#include <algorithm>

#include "parser/dialects/end_words.h"

namespace llmb::parser {
namespace {

// A failure's own lines, what others say of it, and a few of what goes on.
constexpr int kAftermathLines = 200;
// How often a count rises until it shows that a program lives. Slurm gives processes KillWait, 30
// seconds unless configured, before it kills them, and ranks of known programs are given as many
// steps. A user's signal reaches all ranks at once. Fewer do where all ended well, or where
// the next attempt failed by itself.
constexpr int kRisesBehindAScheduler = 20;
constexpr int kRisesBehindAUser = 5;
constexpr int kRisesForAWhile = 5;

}  // namespace

void Aftermath::begin(const LogEvent* end_from_outside) {
  const bool is_same_end = end_from_outside != nullptr && end_from_outside->offset == end_offset_;
  const int rises = is_same_end ? std::min(rises_max_, kRisesForAWhile) : 0;
  // What counted before a failure that another one follows may go on behind that.
  std::vector<Counted> counted;
  if (end_from_outside == nullptr && rises_wanted_ == 1) counted = std::move(counted_);
  end();
  counted_ = std::move(counted);
  lines_left_ = kAftermathLines;
  rises_wanted_ = 1;
  if (end_from_outside == nullptr) return;
  rises_max_ = rises;
  end_offset_ = end_from_outside->offset;
  const bool is_of_user = end_from_outside->cause == "interrupted";
  rises_wanted_ = is_of_user ? kRisesBehindAUser : kRisesBehindAScheduler;
}

bool Aftermath::counts_behind_an_end() const {
  return rises_wanted_ > 1 && rises_max_ >= kRisesForAWhile;
}

Aftermath::Sign Aftermath::read(std::string_view text, bool may_count) {
  if (--lines_left_ <= 0) {
    end();
    return Sign::none;
  }
  if (tells_of_a_good_end(text)) {
    const bool went_on = rises_max_ >= kRisesForAWhile;
    // Of a scheduler's end a script may say so, and another attempt follows.
    if (went_on || rises_wanted_ == 1) end();
    return went_on ? Sign::went_on_well : Sign::ended_well;
  }
  const auto line = may_count ? read_counting_line(text) : std::nullopt;
  if (!line) return Sign::none;
  rises_max_ = std::max(rises_max_, rises_of(*line));
  if (rises_max_ < rises_wanted_) return Sign::none;
  end();
  return Sign::goes_on;
}

int Aftermath::rises_of(const CountingLine& line) {
  Counted newest{line, {}};
  const auto same = std::find_if(counted_.begin(), counted_.end(),
                                 [&](const Counted& one) { return one.line.shape == line.shape; });
  if (same != counted_.end()) {
    const bool rises = line.follows(same->line) || line.counts_on(same->line, same->rises);
    // Another rank may tell of the same step.
    const bool stays = line.names_its_counts && line.counts == same->line.counts;
    if (rises || stays) newest.rises_in_a_row = same->rises_in_a_row + (rises ? 1 : 0);
    for (std::size_t i = 0; i < line.numbers.size(); ++i) {
      newest.rises[i] = line.numbers[i] - same->line.numbers[i];
    }
    counted_.erase(same);
  } else if (counted_.size() == kShapesMax) {
    counted_.erase(counted_.begin());
  }
  counted_.push_back(newest);
  return newest.rises_in_a_row;
}

void Aftermath::save(StateWriter& state) const {
  state.integer(lines_left_);
  state.integer(rises_wanted_);
  state.integer(rises_max_);
  state.unsigned_integer(end_offset_);
  state.unsigned_integer(counted_.size());
  for (const Counted& one : counted_) {
    state.unsigned_integer(one.line.shape);
    for (const double count : one.line.counts) state.number(count);
    for (const double number : one.line.numbers) state.number(number);
    for (const double rise : one.rises) state.number(rise);
    state.integer(one.rises_in_a_row);
  }
}

void Aftermath::restore(StateReader& state) {
  lines_left_ = static_cast<int>(state.count(kAftermathLines));
  rises_wanted_ = static_cast<int>(state.count(kRisesBehindAScheduler));
  rises_max_ = static_cast<int>(state.count(kRisesBehindAScheduler));
  end_offset_ = state.unsigned_integer();
  counted_.resize(state.count(kShapesMax));
  for (Counted& one : counted_) {
    one.line.shape = state.unsigned_integer();
    for (double& count : one.line.counts) count = state.number();
    for (double& number : one.line.numbers) number = state.number();
    for (double& rise : one.rises) rise = state.number();
    one.rises_in_a_row = static_cast<int>(state.count(kAftermathLines));
  }
}

}  // namespace llmb::parser
