#include "parser/dialects/nccl_line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "parser/dialects/nccl_call.h"
#include "parser/foundation/text.h"
#include "parser/lines/line_cleaner.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

// ":4711"
std::size_t id_length(std::string_view text) {
  if (!text.starts_with(':')) return 0;
  const std::size_t digits = length_of_run(text, 1, is_digit);
  return digits == 0 ? 0 : 1 + digits;
}

// A host's name may have letters of any script.
bool is_host_byte(char c) {
  return is_name_byte(c) || static_cast<unsigned char>(c) >= 0x80;
}

// "", "[0] " and "host:pid:tid [0] ", as NCCL prints them.
bool is_own_label(std::string_view text) {
  if (text.empty()) return true;
  if (!text.starts_with('[')) {
    const std::size_t host = length_of_run(text, 0, is_host_byte);
    if (host == 0) return false;
    text.remove_prefix(host);
    for (int i = 0; i < 2; ++i) {
      const std::size_t length = id_length(text);
      if (length == 0) return false;
      text.remove_prefix(length);
    }
    if (!text.starts_with(' ')) return false;
    text.remove_prefix(1);
  }
  const std::size_t digits = text.starts_with('[') ? length_of_run(text, 1, is_digit) : 0;
  return digits > 0 && text.substr(1 + digits) == "] ";
}

// Of a number as Python and C print it: an exponent has its sign, so that the "e3" of "7.31e3node"
// is the host's. No host's name has a '+': behind "7.31e+" the number is the "03".
std::size_t number_length(std::string_view text) {
  std::size_t length = length_of_run(text, 0, is_digit);
  if (length == 0) return 0;
  const auto digits_behind = [&](std::size_t sign) {
    const std::size_t digits = length_of_run(text, length + sign, is_digit);
    return digits == 0 ? 0 : sign + digits;
  };
  if (text.substr(length, 1) == ".") length += digits_behind(1);
  return text.substr(length, 2) == "e-" ? length + digits_behind(2) : length;
}

// Where the host begins with which `text` ends.
std::size_t host_begin(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_host_byte(text[begin - 1])) --begin;
  return begin;
}

// Behind a number that the host is glued to: "5.2node7". Else its end.
std::size_t host_behind_number(std::string_view text) {
  const std::size_t begin = host_begin(text);
  const std::size_t number = number_length(text.substr(begin));
  const std::size_t host = begin + number;
  return number > 0 && host < text.size() && is_letter(text[host]) ? host : text.size();
}

std::size_t digits_begin(std::string_view text, std::size_t end) {
  while (end > 0 && is_digit(text[end - 1])) --end;
  return end;
}

// Where "[0] " begins, with which `prefix` ends; else its end.
std::size_t bracket_begin(std::string_view prefix) {
  if (!prefix.ends_with("] ")) return prefix.size();
  const std::size_t end = prefix.size() - 2;
  const std::size_t digits = digits_begin(prefix, end);
  const bool is_bracket = digits != end && digits > 0 && prefix[digits - 1] == '[';
  return is_bracket ? digits - 1 : prefix.size();
}

// Where ":pid:tid [0] " begins, with which `prefix` ends: the end of its host.
std::optional<std::size_t> host_end(std::string_view prefix) {
  std::size_t end = bracket_begin(prefix);
  if (end == prefix.size() || end == 0 || prefix[end - 1] != ' ') return std::nullopt;
  --end;
  for (int i = 0; i < 2; ++i) {
    const std::size_t digits = digits_begin(prefix, end);
    if (digits == end || digits == 0 || prefix[digits - 1] != ':') return std::nullopt;
    end = digits - 1;
  }
  return end;
}

// Where "[0] " begins, or ":pid:tid [0] ", with which `prefix` ends, or its host where that is
// told; else its end.
std::size_t label_begin(std::string_view prefix) {
  const auto end = host_end(prefix);
  return end ? host_behind_number(prefix.substr(0, *end)) : bracket_begin(prefix);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// "2026-01-02T03:04:05+0000"
bool is_stamp(std::string_view word) {
  const std::size_t length = length_of_run(word, 0, [](char c) {
    return is_digit(c) || std::string_view("-:.,+/TZ").find(c) != std::string_view::npos;
  });
  return length == word.size() && std::count(word.begin(), word.end(), ':') >= 2;
}

// Of steps and failures, in any case: what holds one is read, whatever it looks like.
bool tells_something(std::string_view text) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"error", "exception", "traceback", "kill",   "term",    "abort",  "fault", "memory", "fail",
       "sig",   "fatal",     "exit",      "cancel", "preempt", "assert", "xid",   "oom",    "loss",
       "iter",  "step",      "epoch",     "time",   "nccl",    "=",      "%",     " | "});
  std::string lowered(text);
  for (char& c : lowered) c = lower(c);
  return holds_one_of(lowered, kWords);
}

// Labels that no list knows: "INFO ", "alpha: ", "[1,mpirank:0,algo-1]<stdout>:", "Nov 20 12:01:31
// hexa03 python: ", blanks. In doubt they are words: those are read, and no harm is done.
bool is_unknown_label(std::string_view text) {
  constexpr std::size_t kLabelBytesMax = 64;
  constexpr std::size_t kShortWord = 3;  // "Nov"
  if (text.size() > kLabelBytesMax) return false;
  text = trimmed(text);
  if (text.empty()) return true;
  if (tells_something(text)) return false;
  const bool is_closed = std::string_view(":>]|").find(text.back()) != std::string_view::npos;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find_first_of(" \t", begin)) != std::string_view::npos;) {
    const std::string_view word = text.substr(begin, end - begin);
    if (word.size() > kShortWord && std::none_of(word.begin(), word.end(), is_digit)) return false;
    begin = end + 1;
  }
  if (is_closed) return true;
  return begin == 0 && (length_of_run(text, 0, is_letter) == text.size() || is_stamp(text));
}

// "host:pid:tid [0] " behind a label that no list knows.
bool has_unknown_label(std::string_view prefix) {
  const auto end = host_end(prefix);
  if (!end) return false;
  const std::string_view text = prefix.substr(0, *end);
  const std::size_t begin = host_begin(text);
  if (begin == text.size() || host_behind_number(text) != text.size()) return false;
  const bool is_apart = begin == 0 || is_blank(text[begin - 1]) ||
                        std::string_view(":|>").find(text[begin - 1]) != std::string_view::npos;
  return is_apart && is_unknown_label(text.substr(0, begin));
}

// Of a call behind kNcclOpCount: what is left of one that was cut.
bool is_word_of_a_call(std::string_view word, bool is_cut) {
  constexpr auto kKeys =
      std::to_array<std::string_view>({"sendbuff", "recvbuff", "acc", "count", "datatype", "op",
                                       "root", "comm", "stream", "task", "globalrank", "(nil)"});
  constexpr std::string_view kRanks = "[nranks=";
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  for (const std::string_view key : kKeys) {
    if (key == word || (is_cut && key.starts_with(word))) return true;
  }
  if (is_cut && kRanks.starts_with(word)) return true;
  if (word.starts_with(kRanks)) {
    const std::size_t end = kRanks.size() + length_of_run(word, kRanks.size(), is_digit);
    return word.substr(end) == "]" || (is_cut && end == word.size());
  }
  const std::string_view digits = word.starts_with("0x") ? word.substr(2) : word;
  return length_of_run(digits, 0, is_hex) == digits.size();
}

// What stands at the end of a text: where a call's label is taken off, a host may be left, glued to
// the last word.
enum class TextEnd { of_line, before_label };

bool is_rest_of_a_cut_call(std::string_view rest, TextEnd text_end) {
  for (;;) {
    const std::size_t blank = rest.find(' ');
    const bool is_last = blank == std::string_view::npos;
    if (is_last && text_end == TextEnd::before_label) {
      const auto is_of_either = [](char c) {
        return is_host_byte(c) || std::string_view("()[]=").find(c) != std::string_view::npos;
      };
      return length_of_run(rest, 0, is_of_either) == rest.size();
    }
    if (!is_word_of_a_call(rest.substr(0, blank), is_last)) return false;
    if (is_last) return true;
    rest.remove_prefix(blank + 1);
  }
}

// `text` without calls that were cut at its end: it would pass for a line of NCCL's, and not for
// the failure that it tells of.
std::string_view without_cut_call(std::string_view text, TextEnd text_end) {
  for (;;) {
    const std::size_t at = text.rfind(kNcclOpCount);
    if (at == std::string_view::npos) return text;
    std::size_t name = at;
    while (name > 0 && is_letter(text[name - 1])) --name;
    const bool is_call = name < at && text.substr(0, name).ends_with(kNcclInfo);
    if (!is_call || !is_rest_of_a_cut_call(text.substr(at + kNcclOpCount.size()), text_end)) {
      return text;
    }
    const std::string_view prefix = text.substr(0, name - kNcclInfo.size());
    text = is_nccl_label(prefix) ? std::string_view() : prefix.substr(0, label_begin(prefix));
    text_end = TextEnd::before_label;
  }
}

}  // namespace

bool is_nccl_label(std::string_view prefix) {
  if (is_own_label(prefix)) return true;
  std::string scratch;
  std::string_view rest = without_collector_prefix(clean_line(prefix, scratch));
  rest.remove_prefix(length_of_run(rest, 0, [](char c) { return c == ' '; }));
  return is_own_label(rest) || has_unknown_label(rest);
}

std::string_view nccl_process(std::string_view label) {
  if (const auto end = host_end(label)) {
    const std::size_t begin = host_begin(label.substr(0, *end));
    const std::size_t pid = *end + id_length(label.substr(*end));
    if (begin != *end) return label.substr(begin, pid - begin);
  }
  label.remove_prefix(stamp_length(label));
  const std::size_t bracket = label.rfind(" [");
  return bracket == std::string_view::npos ? label : label.substr(0, bracket);
}

std::string without_nccl_calls(std::string_view line) {
  std::string others;
  std::string_view rest = line;
  std::size_t taken = 0;  // of the line
  while (!rest.empty()) {
    const std::size_t at = rest.find(kNcclOpCount);
    if (at == std::string_view::npos) break;
    const auto call = read_nccl_call(rest);
    if (!call) {
      rest.remove_prefix(at + kNcclOpCount.size());
      continue;
    }
    const std::size_t label_end = line.size() - rest.size() + call->process.size();
    const std::string_view before = line.substr(taken, label_end - taken);
    if (!is_nccl_label(before)) {
      others += without_cut_call(before.substr(0, label_begin(before)), TextEnd::before_label);
    }
    rest = call->rest;
    taken = line.size() - rest.size();
  }
  return others += without_cut_call(line.substr(taken), TextEnd::of_line);
}

}  // namespace llmb::parser
