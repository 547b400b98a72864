#include "server/dispatch/text_check.h"

#include <algorithm>
#include <cstdio>

namespace llmb::dispatch {
namespace {

constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kPathBytesMax = 1024;
constexpr std::size_t kQuotedBytesMax = 60;
constexpr std::size_t kImageBytesMax = 512;
constexpr std::string_view kMountableCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+@=-";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_printable(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() == ' ' || text.back() == ' ') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kNameBytesMax || !is_letter_or_digit(text.front())) {
    return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '+';
  });
}

bool is_variable_name(std::string_view text) {
  if (text.empty() || text.size() > kNameBytesMax || (text.front() >= '0' && text.front() <= '9')) {
    return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '_'; });
}

bool is_plain_path(std::string_view text) {
  if (text.empty() || text.front() != '/' || text.size() > kPathBytesMax) return false;
  if (!is_printable(text) || text.find_first_of("%\\") != std::string_view::npos) return false;
  return ("/" + std::string(text) + "/").find("/../") == std::string::npos;
}

bool is_mountable_path(std::string_view text) {
  return is_plain_path(text) &&
         text.find_first_not_of(kMountableCharacters) == std::string_view::npos;
}

bool is_container_image(std::string_view text) {
  if (text.empty() || text.size() > kImageBytesMax || text.front() == '-') return false;
  // pyxis looks for "./x" in the job's folder, and for "images/x.sqsh" in a registry.
  const bool is_relative =
      text.front() == '.' ||
      (text.front() != '/' && (text.ends_with(".sqsh") || text.ends_with(".squashfs")));
  if (is_relative) return false;
  const bool is_whole = std::all_of(text.begin(), text.end(), [](char c) {
    return c == ':' || c == '#' || kMountableCharacters.find(c) != std::string_view::npos;
  });
  return is_whole && ("/" + std::string(text) + "/").find("/../") == std::string::npos;
}

bool is_container_mount(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (!is_mountable_path(text.substr(0, colon))) return false;
  if (colon == text.size()) return true;
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t second = std::min(rest.find(':'), rest.size());
  if (!is_mountable_path(rest.substr(0, second))) return false;
  if (second == rest.size()) return true;
  const std::string_view flags = rest.substr(second + 1);
  return !flags.empty() &&
         flags.find_first_not_of("abcdefghijklmnopqrstuvwxyz+-") == std::string_view::npos;
}

std::string in_quotes(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, kQuotedBytesMax)) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      char escape[5];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
      shown += escape;
    }
  }
  return shown + (text.size() > kQuotedBytesMax ? "…'" : "'");
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_rank_list(std::string_view text) {
  if (text == "all") return true;
  if (text.size() > 256) return false;
  bool may_end = false;
  bool is_range = false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !may_end) return false;
    if (c == '-' && is_range) return false;
    if (!is_digit && c != '-' && c != ',') return false;
    is_range = c == '-' || (is_range && c != ',');
    may_end = is_digit;
  }
  return may_end;
}

}  // namespace llmb::dispatch
