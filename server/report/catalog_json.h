// The catalog's records, and what is derived with them, as JSON. Every shape is described in
// openapi.json.
#pragma once

#include "parser/catalog/audit.h"
#include "parser/catalog/catalog.h"
#include "parser/statistics/judge_run.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

Json recipe_json(const parser::Recipe& recipe);
Json reference_json(const parser::Reference& reference);
Json audit_json(const parser::Audit& audit);
// Of parse as well as of /runs/{id}/metrics.
Json run_metrics_json(const parser::Judgement& judgement);

}  // namespace llmb::report
