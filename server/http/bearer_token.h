// Bearer tokens (RFC 6750): 256 random bits that a client shows in `Authorization`. Whoever keeps
// them keeps their SHA-256 only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace llmb::http {

// "llmb_" and 64 hexadecimal digits, from the system's random numbers. Throws std::runtime_error
// where it has none to give.
std::string new_token();

// In hexadecimal.
std::string token_sha256(std::string_view token);

// What stands after "Bearer "; nothing where there is no such header.
std::optional<std::string> bearer_token(const Request& request);

}  // namespace llmb::http
