#include "runner/plan/text_format.h"

#include <cstdarg>
#include <cstdio>

namespace llmb::runner {

std::string text_of(const char* format, ...) {
  std::va_list arguments;
  std::va_list again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  // One more for the terminator, for which a string has room.
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string gib(std::int64_t bytes) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  const double value = static_cast<double>(bytes) / kGibibyte;
  return text_of(value < 0.1 && bytes > 0 ? "%.4f" : "%.2f", value);
}

double mebibytes(std::int64_t bytes) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  return static_cast<double>(bytes) / kMebibyte;
}

}  // namespace llmb::runner
