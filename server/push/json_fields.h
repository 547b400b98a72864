// JsonFields: one object's members, read by name; JsonObject writes them. Whatever is missing or of
// another type throws BadTelling with the member's name. Nothing is lost on the way: NaN and
// infinity are written as words, text that is no UTF-8 as hexadecimal digits.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace llmb::push {

using Json = nlohmann::ordered_json;

// Says which field of a telling is not as it should be.
class BadTelling : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Text of any bytes.
Json text_json(const std::string& text);
std::string read_text(const Json& json, const char* name);

[[noreturn]] inline void refuse_field(const char* name, const char* wanted) {
  throw BadTelling(fmt::format("'{}' has to be {}", name, wanted));
}

inline std::int64_t read_integer(const Json& json, const char* name) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const bool is_too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > kMax;
  if (!json.is_number_integer() || is_too_large) refuse_field(name, "an integer of 64 bits");
  return json.get<std::int64_t>();
}

// A number, or one of the words for what JSON does not have.
inline Json real_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}
inline double read_real(const Json& json, const char* name) {
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  refuse_field(name, "a number");
}

inline void read_value(const Json& json, const char* name, std::string& value) {
  value = read_text(json, name);
}
inline void read_value(const Json& json, const char* name, std::int64_t& value) {
  value = read_integer(json, name);
}
inline void read_value(const Json& json, const char* name, std::int32_t& value) {
  const std::int64_t wide = read_integer(json, name);
  if (wide < std::numeric_limits<std::int32_t>::min() ||
      wide > std::numeric_limits<std::int32_t>::max()) {
    refuse_field(name, "an integer of 32 bits");
  }
  value = static_cast<std::int32_t>(wide);
}
inline void read_value(const Json& json, const char* name, std::uint32_t& value) {
  const std::int64_t wide = read_integer(json, name);
  if (wide < 0 || wide > std::numeric_limits<std::uint32_t>::max()) {
    refuse_field(name, "a count of 32 bits");
  }
  value = static_cast<std::uint32_t>(wide);
}
inline void read_value(const Json& json, const char* name, std::uint64_t& value) {
  if (!json.is_number_unsigned()) refuse_field(name, "a count of 64 bits");
  value = json.get<std::uint64_t>();
}
inline void read_value(const Json& json, const char* name, bool& value) {
  if (!json.is_boolean()) refuse_field(name, "true or false");
  value = json.get<bool>();
}
inline void read_value(const Json& json, const char* name, double& value) {
  value = read_real(json, name);
}
template <typename T>
void read_value(const Json& json, const char* name, std::optional<T>& value) {
  value.reset();
  if (!json.is_null()) read_value(json, name, value.emplace());
}

class JsonFields {
 public:
  JsonFields(const Json& object, const char* name) : object_(object) {
    if (!object.is_object()) refuse_field(name, "an object");
  }

  const Json& at(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) refuse_field(name, "there");
    return *found;
  }
  const Json& array(const char* name) const {
    const Json& json = at(name);
    if (!json.is_array()) refuse_field(name, "an array");
    return json;
  }
  template <typename T>
  void read(const char* name, T& value) const {
    read_value(at(name), name, value);
  }
  // A value that has a name of its own; `from_name` gives nothing for others.
  template <typename FromName>
  auto read_named(const char* name, const FromName& from_name) const {
    const auto value = from_name(read_text(at(name), name));
    if (!value) refuse_field(name, "one that is known");
    return *value;
  }

 private:
  const Json& object_;
};

// The other way.
template <typename T>
Json value_json(const T& value) {
  return value;
}
inline Json value_json(double value) {
  return real_json(value);
}
inline Json value_json(const std::string& value) {
  return text_json(value);
}
template <typename T>
Json value_json(const std::optional<T>& value) {
  return value ? value_json(*value) : Json(nullptr);
}

class JsonObject {
 public:
  template <typename T>
  void write(const char* name, const T& value) {
    json_[name] = value_json(value);
  }
  void write(const char* name, Json value) { json_[name] = std::move(value); }
  Json take() { return std::move(json_); }

 private:
  Json json_ = Json::object();
};

}  // namespace llmb::push
