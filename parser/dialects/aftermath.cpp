#include "parser/dialects/aftermath.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "parser/dialects/line_weight.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

// A failure's own lines, what others say of it, and a few of what goes on.
constexpr int kAftermathLines = 200;
constexpr std::size_t kBytesOfAnEnd = 300;
// How often a count rises until it shows that a program lives. Slurm gives processes KillWait, 30
// seconds unless configured, before it kills them, and ranks of known programs are given as many
// steps. A user's signal reaches all ranks at once. Fewer do where all ended well.
constexpr int kRisesBehindAScheduler = 20;
constexpr int kRisesBehindAUser = 5;
constexpr int kRisesBeforeAGoodEnd = 5;

using SuccessWords = std::span<const std::string_view>;

bool holds_one_of(std::string_view text, SuccessWords words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// As words of their own.
bool holds_one_as_a_word(std::string_view text, SuccessWords words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool begins = at == 0 || !is_letter(text[at - 1]);
      if (begins && (end == text.size() || !is_letter(text[end]))) return true;
    }
    return false;
  });
}

// Whether a name of a status stands behind all of `text`, which goes on with its value.
bool names_a_status(std::string_view text) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"code", "exit", "rc", "returned", "status", "exited with", "exits with", "ended with"});
  const std::size_t end = text.find_last_not_of(" =:");
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    if (!text.ends_with(name)) return false;
    const std::size_t begin = text.size() - name.size();
    return begin == 0 || !is_letter(text[begin - 1]);
  });
}

// "exit code 0", "rc=0", "returned 0", "exited with 0"; not "returned 0.3".
bool tells_of_status_0(std::string_view text) {
  for (std::size_t at = text.find('0'); at != std::string_view::npos; at = text.find('0', at + 1)) {
    constexpr std::string_view kBefore = " =:";
    constexpr std::string_view kBehind = " ,;.)'\"";
    if (at == 0 || kBefore.find(text[at - 1]) == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + 1);
    const bool is_whole = rest.empty() || kBehind.find(rest.front()) != std::string_view::npos;
    const bool has_decimals = rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]);
    if (is_whole && !has_decimals && names_a_status(text.substr(0, at))) return true;
  }
  return false;
}

// `text`: in lower case.
bool tells_of_success(std::string_view text) {
  constexpr auto kEnded =
      std::to_array<std::string_view>({"finished", "complete", "done", "exits", "exited"});
  constexpr auto kWhat = std::to_array<std::string_view>(
      {"training", "pretraining", "finetuning", "fit", "run", "all steps"});
  if (text.find("succeeded") != std::string_view::npos || tells_of_status_0(text)) return true;
  if (!holds_one_of(text, kEnded)) return false;
  if (text.find("successfully") != std::string_view::npos) return true;
  constexpr auto kDone =
      std::to_array<std::string_view>({"finished", "completed", "complete", "done"});
  return holds_one_as_a_word(text, kDone) && holds_one_as_a_word(text, kWhat);
}

}  // namespace

bool tells_of_a_good_end(std::string_view text) {
  text = text.substr(0, kBytesOfAnEnd);
  const std::string words = lower(text);
  constexpr auto kDoubts = std::to_array<std::string_view>(
      {" not ", "n't", "fail", "error", "incomplete", "abort", "kill", "cancel"});
  return tells_of_success(words) && !holds_one_of(words, kDoubts) &&
         weight_of(text) > LineWeight::warning;
}

void Aftermath::begin(std::string_view end_from_outside) {
  end();
  lines_left_ = kAftermathLines;
  rises_wanted_ = end_from_outside.empty()            ? 1
                  : end_from_outside == "interrupted" ? kRisesBehindAUser
                                                      : kRisesBehindAScheduler;
}

Aftermath::Sign Aftermath::read(std::string_view text, bool may_count) {
  if (--lines_left_ <= 0) {
    end();
    return Sign::none;
  }
  if (tells_of_a_good_end(text)) {
    const bool went_on = rises_max_ >= kRisesBeforeAGoodEnd;
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
    const bool rises =
        line.names_its_counts ? line.follows(same->line) : line.counts_on(same->line, same->rises);
    // Another rank may tell of the same step.
    const bool stays = line.names_its_counts && line.counts == same->line.counts;
    if (rises || stays) newest.rises_in_a_row = same->rises_in_a_row + (rises ? 1 : 0);
    for (std::size_t i = 0; i < line.counts.size(); ++i) {
      newest.rises[i] = line.counts[i] - same->line.counts[i];
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
  state.unsigned_integer(counted_.size());
  for (const Counted& one : counted_) {
    state.unsigned_integer(one.line.shape);
    for (const double count : one.line.counts) state.number(count);
    for (const double rise : one.rises) state.number(rise);
    state.integer(one.rises_in_a_row);
  }
}

void Aftermath::restore(StateReader& state) {
  lines_left_ = static_cast<int>(state.count(kAftermathLines));
  rises_wanted_ = static_cast<int>(state.count(kRisesBehindAScheduler));
  rises_max_ = static_cast<int>(state.count(kRisesBehindAScheduler));
  counted_.resize(state.count(kShapesMax));
  for (Counted& one : counted_) {
    one.line.shape = state.unsigned_integer();
    for (double& count : one.line.counts) count = state.number();
    for (double& rise : one.rises) rise = state.number();
    one.rises_in_a_row = static_cast<int>(state.count(kAftermathLines));
  }
}

}  // namespace llmb::parser
