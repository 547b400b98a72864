#include "parser/dialects/nccl_line.h"

#include <charconv>
#include <cstddef>
#include <system_error>

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

// Behind a number that the host is glued to: "5.2node7". Else its end.
std::size_t host_behind_number(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_host_byte(text[begin - 1])) --begin;
  if (begin == text.size() || !is_digit(text[begin])) return text.size();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  const auto host = static_cast<std::size_t>(end - text.data());
  const bool is_name = error == std::errc() && host < text.size() && is_letter(text[host]);
  return is_name ? host : text.size();
}

// Where "[0] " begins, or ":pid:tid [0] ", with which `prefix` ends, or its host where that is
// told; else its end.
std::size_t label_begin(std::string_view prefix) {
  const auto digits_before = [prefix](std::size_t end) {
    std::size_t begin = end;
    while (begin > 0 && is_digit(prefix[begin - 1])) --begin;
    return begin;
  };
  if (!prefix.ends_with("] ")) return prefix.size();
  std::size_t begin = digits_before(prefix.size() - 2);
  if (begin == 0 || prefix[begin - 1] != '[') return prefix.size();
  const std::size_t bracket = begin - 1;
  begin = bracket;
  if (begin == 0 || prefix[begin - 1] != ' ') return bracket;
  --begin;
  for (int i = 0; i < 2; ++i) {
    const std::size_t digits = digits_before(begin);
    if (digits == begin || digits == 0 || prefix[digits - 1] != ':') return bracket;
    begin = digits - 1;
  }
  return host_behind_number(prefix.substr(0, begin));
}

}  // namespace

bool is_nccl_label(std::string_view prefix) {
  if (is_own_label(prefix)) return true;
  std::string scratch;
  std::string_view rest = without_collector_prefix(clean_line(prefix, scratch));
  rest.remove_prefix(length_of_run(rest, 0, [](char c) { return c == ' '; }));
  return is_own_label(rest);
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
    if (!is_nccl_label(before)) others += before.substr(0, label_begin(before));
    rest = call->rest;
    taken = line.size() - rest.size();
  }
  return others += line.substr(taken);
}

}  // namespace llmb::parser
