#include "server/api/attachment.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/foundation/safe_text.h"
#include "parser/foundation/utf8.h"
#include "server/api/query_parameters.h"

namespace llmb::api {
namespace {

// Some browsers take "%41" in the plain name for an "A".
bool stays_as_it_is(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '%';
}

}  // namespace

std::pair<std::string, std::string> attachment_header(std::string_view name) {
  std::string shown = parser::safe_text(name);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c == '/' || c == '\\'; }, '_');
  std::string ascii;
  for (const char c : shown) {
    if (!parser::is_continuation_byte(c)) ascii += stays_as_it_is(c) ? c : '_';
  }
  std::string value = fmt::format("attachment; filename=\"{}\"", ascii);
  if (ascii != shown) value += fmt::format("; filename*=UTF-8''{}", percent_encode(shown));
  return {"Content-Disposition", std::move(value)};
}

}  // namespace llmb::api
