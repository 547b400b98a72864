#include "parser/layout/profile_name.h"

#include <algorithm>
#include <vector>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kExtension = ".nsys-rep";

// "512g" of Grok-1's names.
bool is_gpu_count(std::string_view part) {
  return part.size() > 1 && part.back() == 'g' &&
         parse_digits(part.substr(0, part.size() - 1)).has_value();
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
    name.process_id = parse_digits(parts[1]);
  } else if (count >= 4 && ((begins_plain && count == 4) || is_gpu_count(parts[count - 4]))) {
    const auto job_id = parse_digits(parts[count - 3]);
    const auto node = parse_digits(parts[count - 2]);
    const auto local_rank = parse_digits(parts[count - 1]);
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
