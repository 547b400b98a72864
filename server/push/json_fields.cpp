#include "server/push/json_fields.h"

#include <span>
#include <tuple>

#include "parser/foundation/hex.h"

namespace llmb::push {

Json text_json(const std::string& text) {
  try {
    std::ignore = Json(text).dump();
    return text;
  } catch (const Json::type_error&) {
    return {{"hex", parser::hex_text(std::span(reinterpret_cast<const unsigned char*>(text.data()),
                                               text.size()))}};
  }
}

std::string read_text(const Json& json, const char* name) {
  if (json.is_string()) return json.get<std::string>();
  const auto hex = json.is_object() ? json.find("hex") : json.end();
  if (!json.is_object() || hex == json.end() || !hex->is_string())
    storage::refuse_field(name, "a text");
  const auto& digits = hex->get_ref<const std::string&>();
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = parser::hex_value(digits[i]);
    const int low = i + 1 < digits.size() ? parser::hex_value(digits[i + 1]) : -1;
    if (high < 0 || low < 0) storage::refuse_field(name, "of pairs of hexadecimal digits");
    text.push_back(static_cast<char>(high * 16 + low));
  }
  return text;
}

}  // namespace llmb::push
