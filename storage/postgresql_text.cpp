#include "storage/postgresql_text.h"

#include <algorithm>
#include <charconv>

#include "parser/foundation/hex.h"
#include "parser/foundation/utf8.h"

namespace llmb::storage {
namespace {

constexpr char kMark = '\x01';

bool is_plain(unsigned char byte) {
  return byte > 1 && byte < 0x80;
}

}  // namespace

std::string postgresql_text(std::string_view text) {
  const auto plain = [](char c) { return is_plain(static_cast<unsigned char>(c)); };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string stored;
  stored.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = parser::first_character(text).length;
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0 || first <= 1) {
      length = 1;
      stored += {kMark, parser::kHexDigits[first >> 4U], parser::kHexDigits[first & 15U]};
    } else {
      stored += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return stored;
}

std::string from_postgresql_text(std::string_view stored) {
  std::string text;
  text.reserve(stored.size());
  for (std::size_t at = 0; at < stored.size(); ++at) {
    if (stored[at] != kMark || at + 2 >= stored.size()) {
      text += stored[at];
      continue;
    }
    text += static_cast<char>(parser::hex_value(stored[at + 1]) * 16 +
                              parser::hex_value(stored[at + 2]));
    at += 2;
  }
  return text;
}

void append_copied_text(std::string& line, std::string_view stored) {
  for (const char c : stored) {
    switch (c) {
      case '\\':
        line += "\\\\";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      default:
        line += c;
    }
  }
}

void append_copied_bytes(std::string& line, std::string_view bytes) {
  line += "\\\\x";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    line += {parser::kHexDigits[byte >> 4U], parser::kHexDigits[byte & 15U]};
  }
}

NumberedSql with_numbered_parameters(std::string_view sql) {
  NumberedSql numbered;
  bool is_literal = false;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    const char c = sql[at];
    if (c == '\'') is_literal = !is_literal;
    if (c != '?' || is_literal) {
      numbered.sql += c;
      continue;
    }
    // As SQLite counts them: one without a number is the next after the highest.
    int number = numbered.parameters + 1;
    const char* const begin = sql.data() + at + 1;
    const auto [end, error] = std::from_chars(begin, sql.data() + sql.size(), number);
    if (error == std::errc()) at += static_cast<std::size_t>(end - begin);
    numbered.parameters = std::max(numbered.parameters, number);
    numbered.sql.append("$").append(std::to_string(number));
  }
  return numbered;
}

}  // namespace llmb::storage
