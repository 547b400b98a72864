#include "tests/server/cli/json_schema.h"

#include <algorithm>
#include <set>

namespace llmb::cli {
namespace {

using Json = nlohmann::json;

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  std::vector<std::string> violations;

  void check(const Json& schema, const Json& value, const std::string& place) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) violations.push_back(place + " is not in the schema");
      return;
    }
    check_keywords(schema, place);
    if (schema.contains("$ref")) {
      const std::string target = schema["$ref"].get<std::string>().substr(1);
      check(root_.at(Json::json_pointer(target)), value, place);
    }
    if (schema.contains("type") && !has_type(schema["type"], value)) {
      violations.push_back(place + " has the wrong type: " + value.dump());
    }
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
      violations.push_back(place + " is none of the allowed values: " + value.dump());
    }
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(schema["items"], value[i], place + "/" + std::to_string(i));
      }
    }
    if (value.is_object()) check_object(schema, value, place);
  }

 private:
  void check_keywords(const Json& schema, const std::string& place) {
    static const std::set<std::string> known = {
        "$schema", "$defs", "$ref",     "title",      "description",         "type",
        "enum",    "items", "required", "properties", "additionalProperties"};
    for (const auto& entry : schema.items()) {
      if (known.count(entry.key()) == 0) {
        violations.push_back("the schema of " + place + " uses " + entry.key());
      }
    }
  }

  void check_object(const Json& schema, const Json& value, const std::string& place) {
    for (const Json& name : schema.value("required", Json::array())) {
      if (!value.contains(name.get<std::string>())) {
        violations.push_back(place + " lacks " + name.get<std::string>());
      }
    }
    const Json properties = schema.value("properties", Json::object());
    for (const auto& entry : value.items()) {
      const std::string child = place + "/" + entry.key();
      if (properties.contains(entry.key())) {
        check(properties[entry.key()], entry.value(), child);
      } else if (schema.contains("additionalProperties")) {
        check(schema["additionalProperties"], entry.value(), child);
      }
    }
  }

  static bool has_type(const Json& type, const Json& value) {
    if (type.is_array()) {
      return std::any_of(type.begin(), type.end(),
                         [&](const Json& one) { return has_type(one, value); });
    }
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == "null" && value.is_null();
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> schema_violations(const Json& schema, const Json& document) {
  Validator validator(schema);
  validator.check(schema, document, "");
  return validator.violations;
}

}  // namespace llmb::cli
