// A text that lists are filtered by, in the words of an engine's index or comparison.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llmb::storage {

// Of LIKE, with a backslash before what has a meaning there: "50%" -> "%50\\%%".
std::string like_pattern(std::string_view text);

// What FTS5 is to MATCH: some trigrams of the text, spread over it: "grok1" -> "\"gro\" AND
// \"ok1\"". Of ASCII characters alone, since of others it takes either case for one, and of bytes
// that are none it makes its own. Nothing: the text has no three of them in a row.
std::optional<std::string> trigrams_to_match(std::string_view text);

}  // namespace llmb::storage
