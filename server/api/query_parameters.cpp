#include "server/api/query_parameters.h"

#include <fmt/format.h>

#include <algorithm>

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

std::int64_t integer_of(std::string_view name, const std::string& value, std::int64_t min,
                        std::int64_t max) {
  const auto number = parser::parse_integer(value, min, max);
  if (number) return *number;
  throw bad_request(fmt::format(
      "Parameter '{}' is '{}'; it has to be a whole number from {} to {}.", name, value, min, max));
}

}  // namespace

QueryParameters::QueryParameters(const http::Request& request,
                                 const std::vector<std::string_view>& allowed,
                                 const std::vector<std::string_view>& repeatable)
    : values_(request.query) {
  const auto is_in = [](const std::vector<std::string_view>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [name, value] : values_) {
    if (!is_in(allowed, name)) {
      throw bad_request(fmt::format("There is no query parameter '{}' here; allowed: {}.", name,
                                    list_of(allowed)));
    }
    if (value.empty()) {
      throw bad_request(
          fmt::format("Parameter '{}' is empty; give a value or leave it out.", name));
    }
  }
  std::sort(values_.begin(), values_.end());
  const auto twice =
      std::adjacent_find(values_.begin(), values_.end(), [&](const auto& a, const auto& b) {
        return a.first == b.first && !is_in(repeatable, a.first);
      });
  if (twice != values_.end()) {
    throw bad_request(fmt::format("Parameter '{}' is given more than once.", twice->first));
  }
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
}

std::optional<std::string> QueryParameters::text(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> QueryParameters::texts(std::string_view name) const {
  std::vector<std::string> texts;
  for (const auto& [key, value] : values_) {
    if (key == name) texts.push_back(value);
  }
  return texts;
}

std::optional<std::int64_t> QueryParameters::integer(std::string_view name, std::int64_t min,
                                                     std::int64_t max) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  return integer_of(name, *value, min, max);
}

std::vector<std::int64_t> QueryParameters::integers(std::string_view name, std::int64_t min,
                                                    std::int64_t max) const {
  std::vector<std::int64_t> numbers;
  for (const std::string& value : texts(name)) {
    numbers.push_back(integer_of(name, value, min, max));
  }
  return numbers;
}

std::optional<double> QueryParameters::number(std::string_view name, double min, double max) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parser::parse_number<double>(*value);
  // A NaN is not between any two numbers.
  if (number && *number >= min && *number <= max) return number;
  throw bad_request(
      fmt::format("Parameter '{}' is '{}'; it has to be a number from {} to {}, such as {}.", name,
                  *value, min, max, max > 1e12 ? "1e12" : "0.95"));
}

std::optional<bool> QueryParameters::boolean(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  if (*value == "true") return true;
  if (*value == "false") return false;
  throw bad_request(
      fmt::format("Parameter '{}' is '{}'; it has to be true or false.", name, *value));
}

std::optional<parser::Instant> QueryParameters::instant(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto instant = parser::parse_instant(*value);
  if (!instant) {
    throw bad_request(
        fmt::format("Parameter '{}' is '{}'; it has to be a date (2025-12-22) or an RFC 3339 "
                    "instant (2025-12-22T15:18:33Z).",
                    name, *value));
  }
  return instant;
}

template <typename Value>
std::optional<Value> QueryParameters::parsed(
    std::string_view name, parser::Result<Value> (*parse)(std::string_view)) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto result = parse(*value);
  if (!result) {
    throw bad_request(
        fmt::format("Parameter '{}' is '{}': {}", name, *value, result.error().message));
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
  if (!marks) throw bad_request(fmt::format("Parameter '{}': {}", name, marks.error().message));
  return *marks;
}

parser::StepInterruptionSet QueryParameters::step_interruptions(std::string_view name) const {
  const auto set = parser::parse_step_interruptions(text(name).value_or(""));
  if (!set) throw bad_request(fmt::format("Parameter '{}': {}", name, set.error().message));
  return *set;
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
    throw not_found(fmt::format("'{}' is not an id; ids are whole numbers from 1.", text));
  }
  return *id;
}

}  // namespace llmb::api
