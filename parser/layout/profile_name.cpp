#include "parser/layout/profile_name.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace llmb::parser {
namespace {

constexpr std::string_view kExtension = ".nsys-rep";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc() && stop == end && text.front() != '-';
  return is_number ? std::optional(number) : std::nullopt;
}

// "512g" of Grok-1's names.
bool is_gpu_count(std::string_view part) {
  return part.size() > 1 && part.back() == 'g' &&
         whole_number(part.substr(0, part.size() - 1)).has_value();
}

}  // namespace

std::optional<ProfileName> parse_profile_name(std::string_view file_name) {
  if (file_name.size() <= kExtension.size() || !file_name.ends_with(kExtension)) {
    return std::nullopt;
  }
  ProfileName name;
  const auto parts = split(file_name.substr(0, file_name.size() - kExtension.size()), '_');
  const std::size_t count = parts.size();
  const bool begins_plain = parts.front() == "profile";
  if (begins_plain && count == 2) {
    name.process_id = whole_number(parts[1]);
  } else if (count >= 4 && ((begins_plain && count == 4) || is_gpu_count(parts[count - 4]))) {
    const auto job_id = whole_number(parts[count - 3]);
    const auto node = whole_number(parts[count - 2]);
    const auto local_rank = whole_number(parts[count - 1]);
    // Half a name that fits is a name of another kind.
    if (job_id && node && local_rank) {
      name.job_id = job_id;
      name.node = node;
      name.local_rank = local_rank;
    }
  }
  return name;
}

}  // namespace llmb::parser
