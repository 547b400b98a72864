#include "storage/searched_text.h"

#include <algorithm>
#include <cstddef>

namespace llmb::storage {
namespace {

constexpr std::size_t kTrigram = 3;
// More of them rarely tell runs apart, and each is a list of runs to go through.
constexpr std::size_t kTrigramsMax = 8;

// Whether a char has a sign is the machine's.
bool is_ascii(char c) {
  return c != '\0' && static_cast<unsigned char>(c) < 0x80;
}

void append_trigram(std::string_view trigram, std::string& match) {
  match += match.empty() ? "\"" : " AND \"";
  for (const char c : trigram) match += c == '"' ? "\"\"" : std::string(1, c);
  match += '"';
}

}  // namespace

std::string like_pattern(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

std::optional<std::string> trigrams_to_match(std::string_view text) {
  const std::size_t step = std::max(kTrigram, text.size() / kTrigramsMax);
  std::string match;
  std::size_t next = 0;
  for (std::size_t at = 0; at + kTrigram <= text.size(); ++at) {
    const std::string_view trigram = text.substr(at, kTrigram);
    const bool is_last = at + kTrigram == text.size();
    if ((at < next && !is_last) || !std::ranges::all_of(trigram, is_ascii)) continue;
    append_trigram(trigram, match);
    next = at + step;
  }
  return match.empty() ? std::nullopt : std::optional(std::move(match));
}

}  // namespace llmb::storage
