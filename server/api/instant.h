// Instants as the API reads them: RFC 3339 in, RFC 3339 UTC in whole seconds out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace llmb::api {

// "2025-12-22", "2025-12-22T15:18:33Z", "2025-12-22T15:18:33.5+02:00" -> "2025-12-22T13:18:33Z".
// Nothing where the text is neither, or no such instant exists.
std::optional<std::string> normalise_instant(std::string_view text);
std::optional<std::chrono::sys_seconds> parse_instant(std::string_view text);  // the same forms
std::string instant_text(std::chrono::sys_seconds instant);

}  // namespace llmb::api
