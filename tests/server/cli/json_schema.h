// A validator for the part of JSON Schema that the project's schemas use; any other keyword is an
// error, so that a schema cannot claim what is not checked.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace llmb::cli {

// One sentence for each violation, with the place.
std::vector<std::string> schema_violations(const nlohmann::json& schema,
                                           const nlohmann::json& document);

}  // namespace llmb::cli
