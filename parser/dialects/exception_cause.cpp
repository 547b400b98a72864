#include "parser/dialects/exception_cause.h"

#include <re2/re2.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/dialects/exception_words.h"
#include "parser/dialects/exit_status.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

// Messages may be a MiB long, and say at their beginning what happened.
constexpr std::size_t kMessageReach = 2000;
constexpr std::size_t kHeadReach = 600;

// RE2 of an exception's type, with what ends it. Captures the last part of its name.
constexpr std::string_view kType =
    R"((?:(?:\w+\.)*(_?[A-Z]\w*(?:Error|Exception|Failure|Timeout|Exit|Expired|Iteration)|)"
    R"(Exception|BrokenProcessPool)|)"
    R"((?:[a-z_]\w*\.)+([A-Z]\w+|error|gaierror|timeout))(?:: |:?\s*$))";
constexpr std::string_view kAlone = R"([ |+]*)";
// What a logger puts before it, and words that say what came of it.
constexpr std::string_view kOfLogger =
    R"re((?:^.{0,80}(?:ERROR|CRITICAL|FATAL|INFO|level=\w+|"(?:level|severity)": ?"\w+")\b)re"
    R"re(.{0,160}?(?:\]:? | - | \| |: |:|msg="|"(?:msg|message|event)": ?")|)re"
    R"re(^\[NeMo [CEI] .{0,200}?(?:\] |: )|)re"
    R"re(^[EFI]\d{4} .{0,200}?(?:\] |: )|)re"
    R"re(^.{0,160}\b(?:[Uu]ncaught|[Uu]nhandled|due to|because of|)re"
    R"re((?:[Ff]ailed|[Cc]rashed|[Ee]nded|[Dd]ied|[Tt]erminated|[Aa]borted) with)\b.{0,80}?:? ))re";
// One of these stands in what kOfLogger matches: most lines need no second look.
constexpr auto kMarksOfLoggers = std::to_array<std::string_view>(
    {"ERROR", "CRITICAL", "FATAL", "INFO", "level", "severity", "[NeMo ", "ncaught", "nhandled",
     "due to", "because of", "ed with"});

// The tables and the head, compiled when the first exception is read.
struct Compiled {
  struct Row {
    std::unique_ptr<RE2> type, message, unless, with;
  };

  struct PlaceRow {
    std::unique_ptr<RE2> type, unless;
  };

  Compiled()
      : alone(std::string(kAlone) + std::string(kType)),
        of_logger(std::string(kOfLogger) + std::string(kType)) {
    RE2::Options any_case;
    any_case.set_case_sensitive(false);
    const auto compile = [](std::string_view text, const RE2::Options& options) {
      return text.empty() ? nullptr : std::make_unique<RE2>(std::string(text), options);
    };
    for (const Words& words : kWords) {
      Row& row = rows.emplace_back();
      row.type = compile(words.type, RE2::Options());
      row.message = compile(words.message, any_case);
      row.unless = compile(words.unless, any_case);
      row.with = compile(words.with, any_case);
    }
    for (const AtPlace& at_place : kAtPlaces) {
      place_rows.push_back(
          {compile(at_place.type, RE2::Options()), compile(at_place.unless, any_case)});
    }
  }

  RE2 alone, of_logger;
  RE2 setting = RE2("(?i)" + std::string(kSetting) + R"(|specif|\bmust\b|--)");
  RE2 data = RE2("(?i)tokeniz|vocab|data ?set|corpus|samples|sentencepiece");
  // Stand for frames that are left out, or for a worker's exception.
  RE2 stand_in = RE2("SimplifiedTraceback|UnfilteredStackTrace|_?RemoteTraceback");
  std::vector<Row> rows;
  std::vector<PlaceRow> place_rows;
};

bool holds(const re2::StringPiece& text, const std::unique_ptr<RE2>& pattern) {
  return pattern == nullptr || RE2::PartialMatch(text, *pattern);
}

// Null where the words say nothing.
const Words* find_words(const Compiled& compiled, re2::StringPiece type, re2::StringPiece message) {
  message = message.substr(0, kMessageReach);
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    const Compiled::Row& row = compiled.rows[i];
    if (row.type != nullptr && !RE2::FullMatch(type, *row.type)) continue;
    if (!holds(message, row.message) || !holds(message, row.with)) continue;
    if (row.unless != nullptr && RE2::PartialMatch(message, *row.unless)) continue;
    return &kWords[i];
  }
  return nullptr;
}

const Compiled& compiled() {
  static const Compiled once;
  return once;
}

// Empty where the place says nothing of such an exception.
std::string_view cause_by_place(ProgramPlace place, re2::StringPiece type,
                                re2::StringPiece message) {
  message = message.substr(0, kMessageReach);
  for (std::size_t i = 0; i < kAtPlaces.size(); ++i) {
    const Compiled::PlaceRow& row = compiled().place_rows[i];
    if (kAtPlaces[i].place != place || !RE2::FullMatch(type, *row.type)) continue;
    if (row.unless != nullptr && RE2::PartialMatch(message, *row.unless)) continue;
    return kAtPlaces[i].cause;
  }
  return {};
}

// Whether a refusal at this place is not one of a setting: a library refuses what it computes with,
// which is the program's mistake, or a reader what it reads.
bool is_refused_as_input(ProgramPlace place, re2::StringPiece message) {
  if (place == ProgramPlace::engine) return true;
  return place == ProgramPlace::data &&
         !RE2::PartialMatch(message.substr(0, kMessageReach), compiled().setting);
}

// Whether the program asked an installed module for what it lacks while it was at work: its own
// mistake rather than an image whose parts don't fit, which shows when it begins.
bool is_a_call_of_the_program(const Words& words, ProgramPlace place) {
  return words.message == kLacksName && place == ProgramPlace::computing;
}

// Whether what was saved broke off, of which pickle says what it says of a file that is cut.
bool is_of_saving(const Words& words, ProgramPlace place) {
  return words.cause == "checkpoint_unreadable" && place == ProgramPlace::computing;
}

// Whether the words tell of a file and not of which: a checkpoint is made of files, too.
bool may_be_of_any_file(const Words& words, ProgramPlace place, re2::StringPiece message) {
  if (words.type == kOfAnyFile) return true;
  return words.cause == "tokenizer_or_data_missing" && place == ProgramPlace::checkpoint &&
         !RE2::PartialMatch(message.substr(0, kMessageReach), compiled().data);
}

bool may_be_of_logger(std::string_view head) {
  constexpr std::string_view kGlogLevels = "EFI";
  if (!head.empty() && kGlogLevels.find(head.front()) != std::string_view::npos) return true;
  return holds_one_of(head, kMarksOfLoggers);
}

struct ExceptionParts {
  re2::StringPiece type;
  re2::StringPiece message;
};

std::optional<ExceptionParts> find_exception(std::string_view line) {
  // The type stands at the beginning, and a match costs by the length.
  const std::string_view begin = line.substr(0, kHeadReach);
  re2::StringPiece head(begin.data(), begin.size());
  re2::StringPiece type;
  re2::StringPiece dotted_type;
  if (!RE2::Consume(&head, compiled().alone, &type, &dotted_type) &&
      (!may_be_of_logger(begin) ||
       !RE2::FindAndConsume(&head, compiled().of_logger, &type, &dotted_type))) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(static_cast<std::size_t>(head.data() - line.data()));
  return ExceptionParts{type.empty() ? dotted_type : type, {rest.data(), rest.size()}};
}

}  // namespace

bool is_exception(std::string_view line) {
  const auto found = find_exception(line);
  return found && !RE2::FullMatch(found->type, compiled().stand_in);
}

std::string_view cause_of_system_error(std::string_view line) {
  constexpr std::string_view kNumber = "Error: [Errno ";
  const std::size_t at = line.find(kNumber);
  if (at == std::string_view::npos || !is_exception(line)) return {};
  // Of a pipe or a socket of the program's own: ranks lose each other in native code.
  const std::string_view cause = cause_of_errno(line.substr(at + kNumber.size()));
  return cause == "peer_lost" ? "python_exception" : cause;
}

ExceptionVerdict judge_exception(std::string_view line, ProgramPlace place) {
  using Basis = ExceptionVerdict::Basis;
  const auto found = find_exception(line);
  if (!found) return {};
  const auto& [type, message] = *found;
  if (RE2::FullMatch(type, compiled().stand_in)) return {};
  const Words* words = find_words(compiled(), type, message);
  const std::string_view by_words = words == nullptr ? "python_exception" : words->cause;
  if (words != nullptr && may_be_of_any_file(*words, place, message)) {
    const std::string_view cause = cause_by_place(place, type, message);
    return {cause.empty() ? by_words : cause, Basis::words, by_words};
  }
  if (words != nullptr &&
      (is_a_call_of_the_program(*words, place) || is_of_saving(*words, place))) {
    return {"python_exception", Basis::place, by_words};
  }
  if (words != nullptr && words->message != kRefusal) return {by_words, Basis::words, by_words};
  if (words != nullptr && !is_refused_as_input(place, message)) {
    return {by_words, Basis::refusal, by_words};
  }
  const std::string_view cause = cause_by_place(place, type, message);
  return cause.empty() ? ExceptionVerdict{"python_exception", Basis::nothing, by_words}
                       : ExceptionVerdict{cause, Basis::place, by_words};
}

std::string_view cause_of_exception(std::string_view line) {
  return judge_exception(line).cause;
}

std::string_view cause_of_native_exception(std::string_view message) {
  const Words* words = find_words(compiled(), "", {message.data(), message.size()});
  return words == nullptr ? std::string_view() : words->cause;
}

}  // namespace llmb::parser
