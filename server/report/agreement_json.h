// What each known tool would report for a run, as JSON: of the API and of `llmb-report agreement`.
#pragma once

#include <vector>

#include "parser/statistics/agreement.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

Json agreement_json(const parser::RunSummary& ours, const std::vector<parser::ToolResult>& tools);

}  // namespace llmb::report
