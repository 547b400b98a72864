#include "server/dispatch/value_origin.h"

#include <fmt/format.h>

#include "server/dispatch/text_check.h"

namespace llmb::dispatch {

std::string origin_of(std::string_view field, const Origins& origins) {
  const auto origin = origins.find(field);
  return origin == origins.end() ? std::string(kAskedFor) : origin->second;
}

std::string set_aside_note(std::string_view source, std::string_view value,
                           const NamedValue& counts) {
  return fmt::format("{} ({}) has no effect: {} is {} ({})", source, in_quotes(value), counts.name,
                     counts.value, counts.origin);
}

}  // namespace llmb::dispatch
