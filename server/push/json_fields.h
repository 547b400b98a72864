// JsonFields: the members of an object (a server's answer, say), read by name. Whatever is missing
// or of another type throws BadField with the member's name. Text that is no UTF-8 travels as
// hexadecimal digits.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "storage/packed_values.h"

namespace llmb::push {

using Json = nlohmann::ordered_json;

// Text of any bytes.
Json text_json(const std::string& text);
std::string read_text(const Json& json, const char* name);

inline std::int64_t read_integer(const Json& json, const char* name) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const bool is_too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > kMax;
  if (!json.is_number_integer() || is_too_large)
    storage::refuse_field(name, "an integer of 64 bits");
  return json.get<std::int64_t>();
}

inline void read_value(const Json& json, const char* name, std::string& value) {
  value = read_text(json, name);
}
inline void read_value(const Json& json, const char* name, std::int64_t& value) {
  value = read_integer(json, name);
}
inline void read_value(const Json& json, const char* name, std::uint64_t& value) {
  if (!json.is_number_unsigned()) storage::refuse_field(name, "a count of 64 bits");
  value = json.get<std::uint64_t>();
}
inline void read_value(const Json& json, const char* name, bool& value) {
  if (!json.is_boolean()) storage::refuse_field(name, "true or false");
  value = json.get<bool>();
}
template <typename T>
void read_value(const Json& json, const char* name, std::optional<T>& value) {
  value.reset();
  if (!json.is_null()) read_value(json, name, value.emplace());
}

class JsonFields {
 public:
  JsonFields(const Json& object, const char* name) : object_(object) {
    if (!object.is_object()) storage::refuse_field(name, "an object");
  }

  const Json& at(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) storage::refuse_field(name, "there");
    return *found;
  }
  const Json& array(const char* name) const {
    const Json& json = at(name);
    if (!json.is_array()) storage::refuse_field(name, "an array");
    return json;
  }
  template <typename T>
  void read(const char* name, T& value) const {
    read_value(at(name), name, value);
  }
  // Of a form that did not always have it: the value stays as it is where there is none.
  template <typename T>
  void read_if_there(const char* name, T& value) const {
    if (object_.contains(name)) read(name, value);
  }
  // A value that has a name of its own; `from_name` gives nothing for others.
  template <typename FromName>
  auto read_named(const char* name, const FromName& from_name) const {
    const auto value = from_name(read_text(at(name), name));
    if (!value) storage::refuse_field(name, "one that is known");
    return *value;
  }

 private:
  const Json& object_;
};

}  // namespace llmb::push
