// What each known tool would report for a run, as JSON: of the API and of `llmb-report agreement`.
#pragma once

#include <vector>

#include "parser/statistics/agreement.h"
#include "server/api/json.h"

namespace llmb::api {

Json agreement_json(const parser::RunSummary& ours, const std::vector<parser::ToolResult>& tools);

}  // namespace llmb::api
