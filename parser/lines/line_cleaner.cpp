#include "parser/lines/line_cleaner.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "parser/foundation/text.h"

namespace llmb::parser {

namespace {

constexpr char kEscape = '\x1b';

// End of a string command's text (OSC, DCS …), after its BEL or ESC \. Where the terminator is
// missing only the introducer goes: better a few odd characters than a lost line.
std::size_t string_command_end(std::string_view text, std::size_t content) {
  for (std::size_t at = content; at < text.size(); ++at) {
    if (text[at] == '\a') return at + 1;
    if (text[at] == kEscape) {
      return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : content;
    }
  }
  return content;
}

// End of the escape sequence that begins with the ESC at `at` (ECMA-48, 5.3 and 5.4). A sequence
// that is cut or malformed ends before the first byte that cannot belong to it.
std::size_t escape_sequence_end(std::string_view text, std::size_t at) {
  const auto intermediate = [](char c) { return c >= 0x20 && c <= 0x2f; };
  std::size_t end = at + 1;
  if (end == text.size()) return end;
  const char introducer = text[end];
  if (introducer == '[') {
    ++end;
    end += length_of_run(text, end, [](char c) { return c >= 0x30 && c <= 0x3f; });
    end += length_of_run(text, end, intermediate);
    const bool has_final = end < text.size() && text[end] >= 0x40 && text[end] <= 0x7e;
    return has_final ? end + 1 : end;
  }
  if (std::string_view("]P^_X").find(introducer) != std::string_view::npos) {
    return string_command_end(text, end + 1);
  }
  end += length_of_run(text, end, intermediate);
  const bool has_final = end < text.size() && text[end] >= 0x30 && text[end] <= 0x7e;
  return has_final ? end + 1 : end;
}

std::size_t next_terminal_byte(std::string_view text, std::size_t from) {
  return std::min(text.find(kEscape, from), text.find('\0', from));
}

void remove_terminal_bytes(std::string_view raw, std::size_t first, std::string& clean) {
  clean.assign(raw.substr(0, first));
  std::size_t at = first;
  while (at < raw.size()) {
    at = raw[at] == kEscape ? escape_sequence_end(raw, at) : at + 1;
    const std::size_t next = std::min(next_terminal_byte(raw, at), raw.size());
    clean.append(raw.substr(at, next - at));
    at = next;
  }
}

// Each label_* returns the length of its label at the beginning of the line, 0 where there is none.

std::size_t label_srun(std::string_view line) {
  constexpr std::size_t kTaskDigitsMax = 7;
  const std::size_t blanks = length_of_run(line, 0, [](char c) { return c == ' '; });
  const std::size_t digits = length_of_run(line, blanks, is_digit);
  const std::size_t end = blanks + digits;
  if (digits == 0 || end > kTaskDigitsMax) return 0;  // srun pads to the widest task id
  return line.substr(end, 2) == ": " ? end + 2 : 0;
}

std::size_t label_bracketed(std::string_view line, std::string_view opening) {
  if (!line.starts_with(opening)) return 0;
  const std::size_t digits = length_of_run(line, opening.size(), is_digit);
  const std::size_t end = opening.size() + digits;
  return digits > 0 && line.substr(end, 2) == "]:" ? end + 2 : 0;
}

std::size_t label_torchrun(std::string_view line) {
  return label_bracketed(line, "[default");
}

std::size_t label_rank(std::string_view line) {
  const std::size_t end = label_bracketed(line, "[rank");
  return end > 0 && line.substr(end, 1) == " " ? end + 1 : end;
}

// The role, or its last ten characters, a slash, the replica.
std::size_t label_torchx(std::string_view line) {
  constexpr std::size_t kRoleLengthMax = 64;
  const std::size_t role = length_of_run(line, 0, is_name_byte);
  if (role == 0 || role > kRoleLengthMax || line.substr(role, 1) != "/") return 0;
  bool has_letter = false;  // "20/50 " is a count, not a role
  for (const char c : line.substr(0, role)) has_letter = has_letter || is_letter(c);
  const std::size_t digits = length_of_run(line, role + 1, is_digit);
  const std::size_t end = role + 1 + digits;
  return has_letter && digits > 0 && line.substr(end, 1) == " " ? end + 1 : 0;
}

// Ray and SkyPilot: a name, then "pid=N" among other words, in one pair of parentheses.
std::size_t label_process(std::string_view line) {
  constexpr std::size_t kLengthMax = 200;
  if (line.size() < 2 || line[0] != '(' || !(is_letter(line[1]) || line[1] == '_')) return 0;
  const std::size_t close = line.substr(0, kLengthMax).find_first_of("()", 1);
  if (close == std::string_view::npos || line[close] != ')') return 0;
  const std::string_view inside = line.substr(0, close);
  const std::size_t pid = inside.find(" pid=");
  if (pid == std::string_view::npos || length_of_run(inside, pid + 5, is_digit) == 0) return 0;
  return line.substr(close + 1, 1) == " " ? close + 2 : close + 1;
}

constexpr std::array kLabels = {label_srun, label_torchrun, label_rank, label_torchx,
                                label_process};

std::string_view without_labels(std::string_view line) {
  std::array<bool, kLabels.size()> seen{};
  for (std::size_t kind = 0; kind < kLabels.size();) {
    const std::size_t length = seen[kind] ? 0 : kLabels[kind](line);
    if (length == 0) {
      ++kind;
      continue;
    }
    line.remove_prefix(length);
    seen[kind] = true;
    kind = 0;
  }
  return line;
}

}  // namespace

std::size_t label_length(std::string_view line) {
  std::size_t length = 0;
  for (const auto& label : kLabels) length = std::max(length, label(line));
  return length;
}

std::string_view clean_line(std::string_view raw, std::string& scratch) {
  const std::size_t first = next_terminal_byte(raw, 0);
  if (first == std::string_view::npos) return without_labels(raw);
  remove_terminal_bytes(raw, first, scratch);
  return without_labels(scratch);
}

}  // namespace llmb::parser
