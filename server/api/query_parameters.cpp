#include "server/api/query_parameters.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "parser/foundation/instant.h"
#include "parser/foundation/parse_number.h"
#include "server/api/request_error.h"

namespace llmb::api {
namespace {

std::string list_of(const std::vector<std::string_view>& names) {
  if (names.empty()) return "none";
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace

QueryParameters::QueryParameters(const http::Request& request,
                                 const std::vector<std::string_view>& allowed)
    : values_(request.query) {
  for (const auto& [name, value] : values_) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      throw bad_request("There is no query parameter '" + name +
                        "' here; allowed: " + list_of(allowed) + ".");
    }
    if (value.empty()) {
      throw bad_request("Parameter '" + name + "' is empty; give a value or leave it out.");
    }
  }
  std::sort(values_.begin(), values_.end());
  const auto twice =
      std::adjacent_find(values_.begin(), values_.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != values_.end()) {
    throw bad_request("Parameter '" + twice->first + "' is given more than once.");
  }
}

std::optional<std::string> QueryParameters::text(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> QueryParameters::integer(std::string_view name, std::int64_t min,
                                                     std::int64_t max) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parser::parse_integer(*value, min, max);
  if (!number) {
    throw bad_request("Parameter '" + std::string(name) + "' is '" + *value +
                      "'; it has to be a whole number from " + std::to_string(min) + " to " +
                      std::to_string(max) + ".");
  }
  return number;
}

std::optional<double> QueryParameters::number(std::string_view name, double min, double max) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parser::parse_number<double>(*value);
  // A NaN is not between any two numbers.
  if (number && *number >= min && *number <= max) return number;
  std::array<char, 32> range{};
  const auto write = [&](double bound) {
    const auto written = std::to_chars(range.data(), range.data() + range.size(), bound).ptr;
    return std::string(range.data(), written);
  };
  throw bad_request("Parameter '" + std::string(name) + "' is '" + *value +
                    "'; it has to be a number from " + write(min) + " to " + write(max) +
                    ", such as 1e12.");
}

std::optional<bool> QueryParameters::boolean(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  if (*value == "true") return true;
  if (*value == "false") return false;
  throw bad_request("Parameter '" + std::string(name) + "' is '" + *value +
                    "'; it has to be true or false.");
}

std::optional<std::string> QueryParameters::instant(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto instant = parser::parse_instant(*value);
  if (!instant) {
    throw bad_request("Parameter '" + std::string(name) + "' is '" + *value +
                      "'; it has to be a date (2025-12-22) or an RFC 3339 instant "
                      "(2025-12-22T15:18:33Z).");
  }
  return parser::instant_text_s(*instant);
}

template <typename Value>
std::optional<Value> QueryParameters::parsed(
    std::string_view name, parser::Result<Value> (*parse)(std::string_view)) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto result = parse(*value);
  if (!result) {
    throw bad_request("Parameter '" + std::string(name) + "' is '" + *value +
                      "': " + result.error().message);
  }
  return *result;
}

std::optional<parser::Window> QueryParameters::window(std::string_view name) const {
  return parsed<parser::Window>(name, parser::parse_window);
}

std::optional<parser::AskedWindow> QueryParameters::asked_window(std::string_view name) const {
  return parsed<parser::AskedWindow>(name, parser::parse_asked_window);
}

parser::RunMarkSet QueryParameters::run_marks(std::string_view name) const {
  const auto marks = parser::parse_run_marks(text(name).value_or(""));
  if (!marks) throw bad_request("Parameter '" + std::string(name) + "': " + marks.error().message);
  return *marks;
}

std::int64_t QueryParameters::limit() const {
  return integer("limit", 1, 500).value_or(50);
}

std::string QueryParameters::canonical(const std::vector<std::string_view>& except) const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (std::find(except.begin(), except.end(), name) != except.end()) continue;
    if (!text.empty()) text += '&';
    text += percent_encode(name) + '=' + percent_encode(value);
  }
  return text;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char byte : text) {
    if (kPlain.find(byte) != std::string_view::npos) {
      encoded += byte;
      continue;
    }
    const auto code = static_cast<unsigned char>(byte);
    encoded += '%';
    encoded += kDigits[code >> 4U];
    encoded += kDigits[code & 15U];
  }
  return encoded;
}

std::int64_t id_parameter(const http::Request& request) {
  const auto found = request.path_parameters.find("id");
  const std::string text = found == request.path_parameters.end() ? "" : found->second;
  const auto id = parser::parse_integer(text);
  if (!id || *id < 1) {
    throw not_found("'" + text + "' is not an id; ids are whole numbers from 1.");
  }
  return *id;
}

}  // namespace llmb::api
