// Where lines end: '\n' and '\r' each. Both searches go in short strides, so that neither a log
// without '\r' nor one without '\n' is walked to its end for the delimiter that it lacks.
#pragma once

#include <cstddef>
#include <string_view>

namespace llmb::parser {

inline constexpr std::size_t kNoDelimiter = std::string_view::npos;

// The first or last delimiter in bytes[begin, end), as an index into bytes; or kNoDelimiter.
std::size_t first_delimiter(std::string_view bytes, std::size_t begin, std::size_t end);
std::size_t last_delimiter(std::string_view bytes, std::size_t begin, std::size_t end);

}  // namespace llmb::parser
