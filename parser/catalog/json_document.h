// A JSON text, strictly: repeated keys are an error. The line of a place in it is found only when
// an error has to name it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "parser/catalog/json_record.h"
#include "parser/result.h"

namespace llmb::parser {

// Errors name the line. A repeated key throws CatalogFault with its path.
nlohmann::json parse_strict_json(const std::string& text);

// From 1; 0 where it cannot be told.
int line_of(const std::string& text, const JsonPath& path);

}  // namespace llmb::parser
