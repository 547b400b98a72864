// What a log's own lines say of the configuration it ran with: the launcher's summary of the 2024
// recipes, the number of processes, the GPU. Only lines that state it; nothing is derived.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "parser/dialects/dialect.h"
#include "parser/layout/run_configuration.h"

namespace llmb::parser {

// What a line may hold that states something.
std::span<const std::string_view> stated_configuration_literals();

// Values by the keys of RunConfiguration. Of a key that comes again the first stays, in LogFacts.
std::vector<StatedValue> read_stated_configuration(const Record& record);

// As configuration values of the log's content.
RunConfiguration stated_configuration(const LogFacts& facts);

}  // namespace llmb::parser
