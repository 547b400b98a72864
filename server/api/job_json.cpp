#include "server/api/job_json.h"

#include "server/dispatch/launch_variables.h"
#include "server/dispatch/submission.h"

namespace llmb::api {
namespace {

// Null: a script stands in their place.
Json variables_json(const dispatch::DryRun& run) {
  if (!run.plan.submits_itself) return nullptr;
  Json variables = Json::array();
  for (const auto& [name, value] : run.environment) {
    const bool is_shown = !dispatch::is_secret_variable(name);
    variables.push_back({{"name", name}, {"value", is_shown ? Json(value) : Json()}});
  }
  return variables;
}

}  // namespace

Json job_json(const storage::JobRecord& job) {
  Json json;
  json["id"] = job.id;
  json["cluster"] = job.cluster;
  json["job_id"] = nullable(job.job_id);
  json["state"] = storage::job_state_name(job.state);
  json["state_reason"] = null_if_empty(job.state_reason);
  json["trouble"] = null_if_empty(job.trouble);
  json["experiment"] = job.experiment;
  json["launch_id"] = job.launch_id;
  json["submitted_by"] = job.submitted_by;
  json["restart_count"] = job.restart_count;
  json["exit_code"] = nullable(job.exit_code);
  json["nodes"] = null_if_empty(job.nodes);
  json["created_at"] = job.created_at;
  json["started_at"] = nullable(job.started_at);
  json["ended_at"] = nullable(job.ended_at);
  json["limit_ends_at"] = nullable(job.limit_ends_at);
  json["updated_at"] = job.updated_at;
  json["cancel_requested_at"] = nullable(job.cancel_requested_at);
  json["revision"] = job.revision;
  return json;
}

Json job_details_json(const storage::JobRecord& job, const std::vector<storage::RunId>& runs) {
  Json json = job_json(job);
  json["run_folder"] = job.run_folder;
  json["submission"] = Json::parse(job.submission, nullptr, false);
  if (json["submission"].is_discarded()) json["submission"] = nullptr;
  json["runs"] = runs;
  return json;
}

Json plan_notes_json(const std::vector<std::string>& notes) {
  Json json = Json::array();
  for (const std::string& note : notes) json.push_back(dispatch::in_keys(note));
  return json;
}

Json dry_run_json(const dispatch::DryRun& run) {
  Json json;
  json["experiment"] = run.plan.experiment;
  json["values"] = Json::array();
  for (const dispatch::PlannedValue& value : run.plan.values) {
    json["values"].push_back(
        {{"name", value.name}, {"value", value.value}, {"origin", value.origin}});
  }
  json["notes"] = plan_notes_json(run.plan.notes);
  json["nodes"] = run.plan.nodes;
  json["ranks_per_node"] = run.plan.ranks_per_node;
  json["run_folder"] = run.place.run_folder;
  json["arguments"] = run.arguments;
  json["script"] = null_if_empty(run.script);
  json["variables"] = variables_json(run);
  return json;
}

}  // namespace llmb::api
