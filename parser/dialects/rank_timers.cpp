// With --timing-log-option minmax (the default), max and all:
//   (min, max) time across ranks (ms):
//       forward-backward ...............................: (7079.75, 7093.12)
//   max time across ranks (ms):
//       forward-backward ...............................: 7093.12
//   times across ranks (ms):
//     forward-backward:
//        rank  0: 7079.75
//        rank  1: 7093.12
#include "parser/dialects/rank_timers.h"

#include <algorithm>

#include "parser/dialects/fields.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

// Other output may come between the lines of a block; not more than this.
constexpr std::uint64_t kBlockGapBytesMax = 4096;
constexpr std::size_t kTimerNameBytesMax = 64;

bool is_timer_name(std::string_view name) {
  return !name.empty() && name.size() <= kTimerNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '/';
         });
}

// Milliseconds at the beginning of `text`, which is moved behind them.
std::optional<double> take_seconds(std::string_view& text) {
  const auto number = leading_number(text);
  if (!number || !(number->value >= 0)) return std::nullopt;
  text = number->rest;
  return from_thousandths(*number);
}

RankMeasures::Quantity quantity_of(std::string_view timer) {
  return {RankSource::timers, timer, "s"};
}

}  // namespace

void RankTimerReader::read(const Record& record, std::size_t line_bytes, RankMeasures& measures) {
  const bool is_header = read_header(record.text, measures);
  if (!is_header && record.offset > end_ + kBlockGapBytesMax) {
    close_timer(measures);
    form_ = Form::none;
  }
  if (form_ != Form::each_rank) {
    read_dotted(record, measures);
  } else if (!is_header) {
    // After \r\n a line begins one byte later.
    const bool is_next = record.offset <= end_ + 1;
    std::string_view text = trimmed(record.text);
    if (take_literal(text, "rank ")) {
      read_rank(record, text, is_next, measures);
    } else if (is_next && text.ends_with(':') && is_timer_name(text.substr(0, text.size() - 1))) {
      close_timer(measures);
      timer_.emplace();
      timer_->name = text.substr(0, text.size() - 1);
    } else {
      return;
    }
  }
  end_ = record.offset + line_bytes + 1;
}

bool RankTimerReader::read_header(std::string_view text, RankMeasures& measures) {
  const bool is_of_each = text.find(kEachRanksTimesHeader) != std::string_view::npos;
  if (!is_of_each && text.find(kHighestTimesHeader) == std::string_view::npos) return false;
  close_timer(measures);
  form_ = is_of_each ? Form::each_rank : Form::highest;
  return true;
}

void RankTimerReader::read_dotted(const Record& record, RankMeasures& measures) const {
  const std::size_t at = record.text.find(kRankTimerDots);
  if (at == std::string_view::npos) return;
  const std::string_view head = trimmed(record.text.substr(0, at), ". ");
  const std::string_view name = head.substr(head.rfind(' ') + 1);
  if (!is_timer_name(name)) return;
  std::string_view rest = record.text.substr(at + kRankTimerDots.size());
  std::optional<double> lowest;
  if (take_literal(rest, "(")) {
    lowest = take_seconds(rest);
    if (!lowest || !take_literal(rest, ",")) return;
  } else if (form_ != Form::highest) {
    return;
  }
  const auto highest = take_seconds(rest);
  if (!highest || (lowest && !take_literal(rest, ")")) || !trimmed(rest).empty()) return;
  const RankMeasures::Quantity quantity = quantity_of(name);
  if (lowest) measures.add(quantity, RankPlace::lowest, {}, lowest, record.offset);
  measures.add(quantity, RankPlace::highest, {}, highest, record.offset);
}

// `text`: what stands behind "rank ".
void RankTimerReader::read_rank(const Record& record, std::string_view text, bool is_next,
                                RankMeasures& measures) {
  const auto rank = take_integer(text);
  if (!rank || *rank < 0 || !take_literal(text, ":")) return;
  const auto seconds = take_seconds(text);
  if (!seconds) return;
  if (timer_ && *rank <= timer_->last_rank) {
    close_timer(measures);  // a timer whose name is not known begins
  } else if (timer_ && !is_next) {
    timer_.reset();  // torn by other output, or another timer's ranks: whose is not known
  }
  if (!timer_) return;
  timer_->last_rank = *rank;
  timer_->offset = record.offset;
  if (!timer_->lowest || *seconds < timer_->lowest->seconds) timer_->lowest = {*seconds, *rank};
  if (!timer_->highest || *seconds > timer_->highest->seconds) timer_->highest = {*seconds, *rank};
}

void RankTimerReader::close_timer(RankMeasures& measures) {
  add_open_timer(measures);
  timer_.reset();
}

void RankTimerReader::add_open_timer(RankMeasures& measures) const {
  if (!timer_ || !timer_->lowest || !timer_->highest) return;
  const RankMeasures::Quantity quantity = quantity_of(timer_->name);
  const RankTime& lowest = *timer_->lowest;
  const RankTime& highest = *timer_->highest;
  measures.add(quantity, RankPlace::lowest, {lowest.rank, {}}, lowest.seconds, timer_->offset);
  measures.add(quantity, RankPlace::highest, {highest.rank, {}}, highest.seconds, timer_->offset);
}

void RankTimerReader::save(StateWriter& state) const {
  state.integer(static_cast<std::int64_t>(form_));
  state.unsigned_integer(end_);
  state.boolean(timer_.has_value());
  if (!timer_) return;
  state.text(timer_->name);
  state.integer(timer_->last_rank);
  state.unsigned_integer(timer_->offset);
  for (const auto& time : {timer_->lowest, timer_->highest}) {
    state.optional_number(time ? std::optional(time->seconds) : std::nullopt);
    state.optional_integer(time ? std::optional(time->rank) : std::nullopt);
  }
}

void RankTimerReader::restore(StateReader& state) {
  *this = RankTimerReader();
  const std::size_t form = state.count(static_cast<std::size_t>(Form::each_rank));
  form_ = static_cast<Form>(form);
  end_ = state.unsigned_integer();
  if (!state.boolean()) return;
  timer_.emplace();
  timer_->name = state.text();
  timer_->last_rank = state.integer();
  timer_->offset = state.unsigned_integer();
  for (auto* time : {&timer_->lowest, &timer_->highest}) {
    const auto seconds = state.optional_number();
    const auto rank = state.optional_integer();
    if (seconds && rank) *time = {*seconds, *rank};
  }
}

}  // namespace llmb::parser
