#include "parser/layout/secrets.h"

#include <algorithm>
#include <array>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

Secrecy secrecy_of_tokens(std::string_view name) {
  constexpr std::array<std::string_view, 2> kMakers = {"iz", "is"};  // of text: a tokenizer
  constexpr std::string_view kToken = "token";
  Secrecy secrecy = Secrecy::none;
  for (std::size_t at = name.find(kToken); at != std::string_view::npos;
       at = name.find(kToken, at + 1)) {
    const std::string_view rest = name.substr(at + kToken.size());
    const bool is_maker = std::any_of(kMakers.begin(), kMakers.end(), [&](std::string_view maker) {
      return rest.starts_with(maker);
    });
    if (is_maker) continue;
    if (!rest.starts_with('s')) return Secrecy::full;
    secrecy = Secrecy::unless_number;
  }
  return secrecy;
}

bool is_secret(std::string_view value, Secrecy secrecy) {
  if (secrecy == Secrecy::unless_number) return !parse_number<double>(value);
  return secrecy == Secrecy::full;
}

// Of the value at the beginning of `text`: to its closing quote, or the next blank. A comma or
// semicolon ends it only where the next NAME= follows: a password may hold one.
std::size_t value_length(std::string_view text) {
  if (text.starts_with('"') || text.starts_with('\'')) {
    const std::size_t end = text.find(text.front(), 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  const std::size_t length = std::min(text.find_first_of(kBlanks), text.size());
  for (std::size_t at = text.find_first_of(",;"); at < length;
       at = text.find_first_of(",;", at + 1)) {
    const std::size_t name = length_of_run(text, at + 1, is_name_byte);
    const std::size_t end = at + 1 + name;
    if (name > 0 && end < length && text[end] == '=') return at;
  }
  return length;
}

}  // namespace

Secrecy secrecy_of(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWords = {"secret", "password", "api_key",
                                                      "credential"};
  std::string plain = lower(name);
  std::replace(plain.begin(), plain.end(), '-', '_');
  return holds_one_of(plain, kWords) ? Secrecy::full : secrecy_of_tokens(plain);
}

std::string without_secrets(std::string_view value, Secrecy secrecy) {
  if (is_secret(value, secrecy)) return std::string(kHidden);
  std::string text;
  for (std::size_t equals = value.find('='); equals != std::string_view::npos;
       equals = value.find('=')) {
    std::size_t begin = equals;
    while (begin > 0 && is_name_byte(value[begin - 1])) --begin;
    const Secrecy own = secrecy_of(value.substr(begin, equals - begin));
    text += value.substr(0, equals + 1);
    value.remove_prefix(equals + 1);
    const std::size_t length = value_length(value);
    if (length == 0 || !is_secret(value.substr(0, length), own)) continue;
    text += kHidden;
    value.remove_prefix(length);
  }
  return text.append(value);
}

}  // namespace llmb::parser
