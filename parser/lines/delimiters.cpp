#include "parser/lines/delimiters.h"

#include <algorithm>
#include <cstring>

namespace llmb::parser {

namespace {
constexpr std::size_t kStride = 512;
}

std::size_t first_delimiter(std::string_view bytes, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const char* const from = bytes.data() + begin;
    std::size_t length = std::min(kStride, end - begin);
    const void* const newline = std::memchr(from, '\n', length);
    if (newline != nullptr) {
      length = static_cast<std::size_t>(static_cast<const char*>(newline) - from);
    }
    const void* const carriage_return = std::memchr(from, '\r', length);
    const void* const found = carriage_return != nullptr ? carriage_return : newline;
    if (found != nullptr) {
      return static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    }
    begin += length;
  }
  return kNoDelimiter;
}

std::size_t last_delimiter(std::string_view bytes, std::size_t begin, std::size_t end) {
  while (begin < end) {
    const std::size_t length = std::min(kStride, end - begin);
    const char* from = bytes.data() + (end - length);
    const char* const until = bytes.data() + end;
    const void* const newline = memrchr(from, '\n', length);
    if (newline != nullptr) from = static_cast<const char*>(newline) + 1;
    const void* const carriage_return = memrchr(from, '\r', static_cast<std::size_t>(until - from));
    const void* const found = carriage_return != nullptr ? carriage_return : newline;
    if (found != nullptr) {
      return static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    }
    end -= length;
  }
  return kNoDelimiter;
}

}  // namespace llmb::parser
