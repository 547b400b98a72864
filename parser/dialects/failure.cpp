#include "parser/dialects/failure.h"

#include <re2/re2.h>

#include <charconv>
#include <memory>
#include <mutex>
#include <vector>

#include "parser/dialects/failure_class.h"
#include "parser/dialects/fields.h"
#include "parser/dialects/line_weight.h"
#include "parser/foundation/utf8.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kLineBytesMax = 500;
// Labels stand at the beginning of a line.
constexpr std::size_t kLabelReach = 96;
constexpr std::int64_t kRankMax = 10'000'000;

// Each is compiled when a line asks for it first: few logs need more than one. Null where the sign
// has no pattern.
const RE2* pattern_of(std::size_t sign) {
  struct Slot {
    std::once_flag once;
    std::unique_ptr<RE2> pattern;
  };
  static std::vector<Slot> slots(failure_signs().size());
  const std::string_view text = failure_signs()[sign].pattern;
  if (text.empty()) return nullptr;
  Slot& slot = slots[sign];
  std::call_once(slot.once, [&] { slot.pattern = std::make_unique<RE2>(std::string(text)); });
  return slot.pattern.get();
}

// The digits right after `prefix`, where `end` follows them.
std::optional<std::int64_t> number_between(std::string_view text, std::string_view prefix,
                                           char end) {
  for (std::size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    const std::string_view rest = text.substr(at + prefix.size());
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const bool ends_well = stop != rest.data() + rest.size() && *stop == end;
    if (error == std::errc() && ends_well && number >= 0 && number <= kRankMax) return number;
  }
  return std::nullopt;
}

// "[Rank 368]" of NCCL's watchdog and "Rank 3]" of its newer form, else torch's label "[rank3]:".
// What launchers write ("0: ", "[default0]:") may be a local number: that is no rank.
std::optional<std::int64_t> rank_of(std::string_view text, std::string_view raw) {
  if (const auto rank = number_between(text, "Rank ", ']')) return rank;
  const std::string_view label = raw.substr(0, kLabelReach);
  if (const auto rank = number_between(label, "[rank", ']')) return rank;
  return number_between(text, "[rank", ']');
}

// "OpType=ALLREDUCE" of the watchdog's line.
std::string_view operation_of(std::string_view text) {
  constexpr std::string_view kName = "OpType=";
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + kName.size());
  const std::size_t length = rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return rest.substr(0, std::min<std::size_t>(length, 40));
}

// `after`: where the sign's literal ends in `text`.
std::string_view cause_of(const FailureSign& sign, std::string_view text, std::size_t after) {
  if (sign.cause_of_line != nullptr) return sign.cause_of_line(text);
  return sign.cause_by == nullptr ? sign.cause : sign.cause_by(text.substr(after));
}

}  // namespace

// Not in the middle of a UTF-8 character, as far as the bytes are UTF-8.
std::string_view shortened_line(std::string_view line) {
  if (line.size() <= kLineBytesMax) return line;
  std::size_t end = kLineBytesMax;
  while (end > kLineBytesMax - 4 && is_continuation_byte(line[end])) --end;
  return line.substr(0, end);
}

LogEvent failure_of_line(const Record& record, std::string_view raw, std::string_view cause) {
  LogEvent event;
  event.cause = cause;
  event.line = shortened_line(trimmed(record.text));
  event.offset = record.offset;
  event.rank = rank_of(record.text, raw);
  return event;
}

std::optional<LogEvent> read_failure(const Record& record, std::string_view raw,
                                     SignIndex::Signs signs) {
  const std::string_view text = without_collector_prefix(record.text);
  for (const std::size_t i : signs) {
    const FailureSign& sign = failure_signs()[i];
    const std::size_t at = text.find(sign.literal);
    if (at == std::string_view::npos || text.find(sign.words) == std::string_view::npos) continue;
    const RE2* pattern = pattern_of(i);
    if (pattern != nullptr &&
        !RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern)) {
      continue;
    }
    const std::string_view cause = cause_of(sign, text, at + sign.literal.size());
    if (cause.empty()) continue;
    const bool is_failure = sign.kind == LogEvent::Kind::failure;
    // A start is told by what a script shows of its environment, too: "SLURM_RESTART_COUNT=1".
    const bool may_be_echoed = !is_failure || cause == kStarted;
    if (!may_be_echoed && weight_of(record.text) == LineWeight::echo) return std::nullopt;
    LogEvent event;
    event.kind = sign.kind;
    event.cause = cause;
    // Of a very long line the part that shows the cause.
    const std::string_view line = trimmed(record.text);
    const bool is_near = at + sign.literal.size() < kLineBytesMax;
    event.line = shortened_line(is_near ? line : text.substr(at));
    event.offset = record.offset;
    if (is_failure) {
      event.rank = rank_of(record.text, raw);
      event.operation = operation_of(record.text);
    }
    return event;
  }
  return std::nullopt;
}

}  // namespace llmb::parser
