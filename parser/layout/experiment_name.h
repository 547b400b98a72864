// What an experiment's name says of its configuration, for the names of releases 25.04 to 26.06.
#pragma once

#include <string_view>

#include "parser/layout/run_configuration.h"

namespace llmb::parser {

// What single tokens say (gpus64, tp4, gbs128) where the name follows no known pattern. All values
// have ConfigSource::experiment_name. Read from `_gpus` backwards, because dtypes hold underscores
// (fp8_cs).
RunConfiguration parse_experiment_name(std::string_view name);

}  // namespace llmb::parser
