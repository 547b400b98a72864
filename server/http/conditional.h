// Conditional requests: does the client's copy still hold?
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llmb::http {

// `if_none_match` is a header: "*", or a list of tags in quotes, each with or without W/ (RFC 9110
// 13.1.2 compares weakly). `etag` is the resource's own, without quotes. Since a compressed body
// goes out under the tag with "-gzip" or "-zstd" behind it, those match as well. Returns the
// matching tag with its quotes, which a 304 must repeat; nothing where none matches.
std::optional<std::string> matching_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace llmb::http
