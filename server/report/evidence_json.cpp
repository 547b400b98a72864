#include "server/report/evidence_json.h"
#include "server/report/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/foundation/bounded_numbers.h"

namespace llmb::report {
namespace {

using parser::NcclUse;

// Nothing for a datatype whose size is not known.
std::optional<std::int64_t> total_bytes(const NcclUse& use) {
  if (parser::nccl_datatype_bytes(use.datatype) == 0) return std::nullopt;
  return parser::bounded_product(parser::bytes_per_call(use), use.calls);
}

Json use_json(const NcclUse& use) {
  Json json;
  const auto bytes = total_bytes(use);
  json["operation"] = use.operation;
  json["datatype"] = parser::nccl_datatype_name(use.datatype);
  json["element_count"] = use.element_count;
  json["bytes_per_call"] = bytes ? Json(parser::bytes_per_call(use)) : Json(nullptr);
  json["rank_count"] = use.rank_count > 0 ? Json(use.rank_count) : Json(nullptr);
  json["calls"] = use.calls;
  json["bytes"] = nullable(bytes);
  json["communicator_count"] = use.communicator_count;
  json["communicators_are_complete"] = use.communicators_are_complete;
  return json;
}

Json periodic_json(const std::optional<parser::PeriodicSlowness>& periodic) {
  if (!periodic) return nullptr;
  return {
      {"period", periodic->period},         {"first_iteration", periodic->first_iteration},
      {"step_count", periodic->step_count}, {"step_time_s_median", periodic->step_time_s_median},
      {"ratio", periodic->ratio},           {"time_share_lost", periodic->time_share_lost}};
}

Json step_drift_json(const std::optional<parser::StepDrift>& drift) {
  if (!drift) return nullptr;
  return {{"first_iteration", drift->first_iteration},
          {"last_iteration", drift->last_iteration},
          {"relative_change", number(drift->relative_change)},
          {"p_value", number(drift->p_value)}};
}

std::string missing_reason(const parser::StepInsight& insight) {
  if (insight.timed_step_count < parser::kInsightStepsMin) {
    return fmt::format("only {} steps with a time; {} are needed", insight.timed_step_count,
                       parser::kInsightStepsMin);
  }
  return insight.becomes_steady ? "" : "the step times never become steady";
}

}  // namespace

Json nccl_json(const parser::NcclTrace& trace) {
  std::vector<NcclUse> uses = trace.uses;
  std::stable_sort(uses.begin(), uses.end(), [](const NcclUse& a, const NcclUse& b) {
    return total_bytes(a).value_or(0) > total_bytes(b).value_or(0);
  });
  Json operations = Json::array();
  std::int64_t calls = trace.other_calls;
  std::int64_t bytes = trace.other_bytes;
  for (const NcclUse& use : uses) {
    operations.push_back(use_json(use));
    calls += use.calls;
    bytes = parser::bounded_sum(bytes, total_bytes(use).value_or(0));
  }
  Json json;
  json["calls"] = calls;
  json["bytes"] = bytes;
  json["other_calls"] = trace.other_calls;
  json["other_bytes"] = trace.other_bytes;
  json["torn_lines"] = trace.torn_lines;
  json["operations"] = std::move(operations);
  return json;
}

Json ranks_json(const parser::RankEvidence& ranks) {
  Json measures = Json::array();
  for (const parser::RankMeasure& measure : ranks.measures) {
    const auto& values = measure.values;
    Json json;
    json["source"] = parser::rank_source_name(measure.source);
    json["quantity"] = measure.quantity;
    json["unit"] = measure.unit;
    json["place"] = parser::rank_place_name(measure.place);
    json["rank"] = nullable(measure.rank);
    json["node"] = null_if_empty(measure.node);
    json["is_of_other_ranks"] = measure.is_of_other_ranks;
    json["count"] = measure.count;
    // Rounding of the sum must not lift the mean out of its values.
    json["value_mean"] = values ? Json(std::clamp(values->sum / static_cast<double>(measure.count),
                                                  values->min, values->max))
                                : Json(nullptr);
    json["value_min"] = values ? Json(values->min) : Json(nullptr);
    json["value_max"] = values ? Json(values->max) : Json(nullptr);
    json["offset"] = measure.offset;
    measures.push_back(std::move(json));
  }
  return {{"values_left_out", ranks.values_left_out}, {"measures", std::move(measures)}};
}

Json checkpoints_json(const std::vector<parser::CheckpointEvent>& checkpoints) {
  Json list = Json::array();
  for (const parser::CheckpointEvent& event : checkpoints) {
    list.push_back({{"kind", parser::checkpoint_kind_name(event.kind)},
                    {"iteration", nullable(event.iteration)},
                    {"duration_s", number(event.duration_s)},
                    {"rank", nullable(event.rank)},
                    {"offset", event.offset}});
  }
  return list;
}

Json insight_json(const parser::StepInsight& insight, const std::string& reason) {
  Json outliers = Json::array();
  for (const parser::StepOutlier& outlier : insight.outliers) {
    outliers.push_back({{"iteration", outlier.iteration},
                        {"step_time_s", outlier.step_time_s},
                        {"ratio", outlier.ratio}});
  }
  Json json;
  json["timed_step_count"] = insight.timed_step_count;
  json["reason"] = null_if_empty(reason.empty() ? missing_reason(insight) : reason);
  json["steady_step_time_s"] = number(insight.steady_step_time_s);
  json["steady_step_time_s_deviation"] = number(insight.steady_step_time_s_deviation);
  json["warm_up_last_iteration"] = nullable(insight.warm_up_last_iteration);
  json["warm_up_step_count"] =
      insight.becomes_steady ? Json(insight.warm_up_step_count) : Json(nullptr);
  json["outlier_count"] = insight.becomes_steady ? Json(insight.outlier_count) : Json(nullptr);
  json["outliers"] = std::move(outliers);
  json["periodic"] = periodic_json(insight.periodic);
  json["drift"] = step_drift_json(insight.drift);
  json["memory_bytes_max"] = number(insight.memory_bytes_max);
  json["memory_bytes_max_iteration"] = nullable(insight.memory_bytes_max_iteration);
  json["memory_bytes_allocated_max"] = number(insight.memory_bytes_allocated_max);
  return json;
}

}  // namespace llmb::report
