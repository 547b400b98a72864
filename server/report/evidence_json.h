// What a log says beside its steps, as JSON: the same objects in the API and in `parse`.
#pragma once

#include <string>
#include <vector>

#include "parser/log_facts.h"
#include "parser/statistics/step_insight.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

// A part of a run's steps that is looked at as a whole is held at once: at most so many.
inline constexpr std::int64_t kInsightStepsMax = 200'000;

// {"calls", "bytes", …, "operations": […]}: the largest in bytes first.
Json nccl_json(const parser::NcclTrace& trace);

// {"values_left_out", "measures": […]}: what the log's own instruments say of its ranks.
Json ranks_json(const parser::RankEvidence& ranks);

// [{"kind", "iteration", …}]
Json checkpoints_json(const std::vector<parser::CheckpointEvent>& checkpoints);

// {"warm_up_last_iteration", "outliers", …}. `reason`: why numbers are missing, beside what the
// insight itself says; may be empty.
Json insight_json(const parser::StepInsight& insight, const std::string& reason = {});

}  // namespace llmb::report
