#include "parser/catalog/json_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace llmb::parser {
namespace {

std::string number_text(double value) {
  std::array<char, 32> text{};
  const bool is_whole = value == std::round(value) && std::abs(value) < 1e15;
  const auto format = is_whole ? std::chars_format::fixed : std::chars_format::general;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format).ptr;
  return {text.data(), end};
}

std::string range_text(const NumberRange& range) {
  return std::string(range.unit) + ", from " + number_text(range.min) + " to " +
         number_text(range.max);
}

}  // namespace

JsonPath operator/(JsonPath path, std::string_view step) {
  path.emplace_back(step);
  return path;
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

JsonRecord::JsonRecord(const nlohmann::json& value, JsonPath path,
                       const std::vector<std::string_view>& allowed)
    : value_(value), path_(std::move(path)) {
  if (!value.is_object()) {
    throw CatalogFault{path_, "this should be an object with the keys " + list_of(allowed)};
  }
  for (const auto& [key, unused] : value.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    throw CatalogFault{path_ / key, "unknown key '" + key + "'; allowed here: " + list_of(allowed)};
  }
}

void JsonRecord::fail_at(std::string_view key, const std::string& message) const {
  throw CatalogFault{path_ / key, "'" + std::string(key) + "' " + message};
}

bool JsonRecord::has(std::string_view key) const {
  return value_.contains(key);
}

const nlohmann::json& JsonRecord::at(std::string_view key) const {
  const auto found = value_.find(key);
  if (found == value_.end()) {
    throw CatalogFault{path_, "the key '" + std::string(key) + "' is missing"};
  }
  return *found;
}

std::string JsonRecord::text(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail_at(key, "should be text that is not empty");
  }
  return value.get<std::string>();
}

std::string JsonRecord::optional_text(std::string_view key) const {
  return has(key) ? text(key) : std::string();
}

std::vector<std::string> JsonRecord::texts(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_array() || value.empty()) fail_at(key, "should be a list of texts");
  std::vector<std::string> list;
  for (const nlohmann::json& item : value) {
    if (!item.is_string()) fail_at(key, "should be a list of texts");
    list.push_back(item.get<std::string>());
    if (std::count(list.begin(), list.end(), list.back()) > 1) {
      fail_at(key, "holds '" + list.back() + "' twice");
    }
  }
  return list;
}

std::string JsonRecord::one_of(std::string_view key,
                               const std::vector<std::string_view>& allowed) const {
  std::string value = text(key);
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    fail_at(key, "is '" + value + "', and should be " + list_of(allowed));
  }
  return value;
}

std::int64_t JsonRecord::integer(std::string_view key, std::int64_t min, std::int64_t max) const {
  const nlohmann::json& value = at(key);
  if (!value.is_number_integer() || value < min || value > max) {
    fail_at(key, fmt::format("is {}, and should be a whole number from {} to {}", value.dump(), min,
                             max));
  }
  return value.get<std::int64_t>();
}

std::optional<std::int64_t> JsonRecord::optional_integer(std::string_view key, std::int64_t min,
                                                         std::int64_t max) const {
  if (!has(key)) return std::nullopt;
  return integer(key, min, max);
}

double JsonRecord::number(std::string_view key, const NumberRange& range) const {
  const nlohmann::json& value = at(key);
  if (!value.is_number() || value < range.min || value > range.max) {
    fail_at(key, "is " + value.dump() + ", and should be a number " + range_text(range));
  }
  return value.get<double>();
}

bool JsonRecord::flag(std::string_view key) const {
  const nlohmann::json& value = at(key);
  if (!value.is_boolean()) fail_at(key, "should be true or false");
  return value.get<bool>();
}

std::optional<bool> JsonRecord::optional_flag(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return flag(key);
}

ScaleFormula JsonRecord::formula(std::string_view key) const {
  const nlohmann::json& value = at(key);
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const auto formula = parse_scale_formula(text);
  if (!formula) fail_at(key, "is wrong: " + formula.error().message);
  return *formula;
}

std::optional<PrintedNumber> JsonRecord::printed(std::string_view key,
                                                 const NumberRange& range) const {
  if (!has(key)) return std::nullopt;
  const nlohmann::json& value = at(key);
  if (!value.is_string()) {
    fail_at(key, "should be text that holds the number as printed, such as \"5.293\"");
  }
  const auto number = parse_printed_number(value.get<std::string>());
  if (!number) fail_at(key, "is wrong: " + number.error().message);
  if (number->value < range.min || number->value > range.max) {
    fail_at(key, "is " + number->text + ", and should be " + range_text(range));
  }
  return *number;
}

}  // namespace llmb::parser
