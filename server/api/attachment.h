// What a browser is told of an answer that it is to keep as a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace llmb::api {

// The header Content-Disposition (RFC 6266). `name` may hold any bytes: those that are no ASCII go
// out by RFC 8187 beside a name without them; what could end a line, lead into a folder or turn the
// writing direction is replaced.
std::pair<std::string, std::string> attachment_header(std::string_view name);

}  // namespace llmb::api
