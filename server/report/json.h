// The JSON that the API and the command line write: keys in the order in which they are written,
// null for what is unknown, and for NaN and infinity, which JSON does not have.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "server/report/json_fwd.h"

namespace llmb::report {

template <typename T>
Json nullable(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
inline Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

inline Json null_if_empty(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

// Names and lines of logs may be any bytes: what is not UTF-8 is replaced, not fatal.
inline std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace llmb::report
