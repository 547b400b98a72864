// Whether a run's step times are printed as such, or computed from the rates that its lines print,
// as the summary's reason tells.
#pragma once

#include <optional>
#include <string_view>

#include "parser/statistics/run_summary.h"

namespace llmb::parser {

// "printed" or "rate"; nothing of a summary without step times.
std::optional<std::string_view> time_source(const RunSummary& summary);

}  // namespace llmb::parser
