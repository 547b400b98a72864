// The name of the JSON that the API and the command line write, for headers that only pass it on.
// json.h has the type itself.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace llmb::report {

using Json = nlohmann::ordered_json;

}  // namespace llmb::report
