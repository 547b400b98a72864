// A run's configuration as one text, in the form of an INI file: a section for each source, in it a
// line for each key. It is written and read as a whole, and may be looked at in the database:
//
//   [llmb_config]
//   gpu_type=h100
//   [experiment_name]
//   gpu_count=128
#pragma once

#include <string>
#include <string_view>

#include "parser/layout/run_configuration.h"

namespace llmb::storage {

// Any bytes may stand in keys and values: a line feed is written as `\n`, a backslash as `\\`, and
// `=` in a key as `\e`.
std::string settings_text(const parser::RunConfiguration& configuration);

// What is no line of that form, or of an unknown source, is passed over.
parser::RunConfiguration read_settings_text(std::string_view text);

}  // namespace llmb::storage
