// GET, POST /api/v1/jobs and GET, DELETE /api/v1/jobs/{id}: what was submitted to the cluster.
#include "server/api/access.h"

#include <fmt/format.h>
#include "server/api/cursor.h"
#include "server/api/job_json.h"
#include "server/api/job_lookup.h"
#include "server/api/query_parameters.h"
#include "server/api/request_body.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"
#include "server/dispatch/text_check.h"

namespace llmb::api {
namespace {

using dispatch::SubmitOutcome;

constexpr std::size_t kIdempotencyKeyBytesMax = 128;
constexpr std::string_view kNewestFirst = "-id";

std::string idempotency_key(const http::Request& request) {
  std::string key = request.header("idempotency-key").value_or("");
  if (request.header("idempotency-key") && dispatch::trimmed(key).empty()) {
    throw bad_request(
        "The header Idempotency-Key is empty, so that this request would be another one each time: "
        "give it a key, or leave the header out.");
  }
  if (key.size() > kIdempotencyKeyBytesMax || !dispatch::is_printable(key)) {
    throw bad_request(
        fmt::format("The header Idempotency-Key has to be printable ASCII, at most {} characters.",
                    kIdempotencyKeyBytesMax));
  }
  return key;
}

std::vector<dispatch::Submission> read_submissions(const http::Request& request) {
  require_media_type(request, "application/json", "The body has to be application/json.");
  require_not_encoded(request);
  auto submissions = dispatch::parse_submissions(request.body);
  if (!submissions) throw bad_request(dispatch::in_keys(submissions.error().message));
  return std::move(*submissions);
}

http::Response dry_run(Context& context, const std::vector<dispatch::Submission>& submissions) {
  const auto runs = context.options.dispatcher->dry_run(submissions);
  if (!runs) throw bad_request(dispatch::in_keys(runs.error().message));
  Json json = {{"dry_runs", Json::array()}};
  for (const dispatch::DryRun& run : *runs) json["dry_runs"].push_back(dry_run_json(run));
  return http::json_response(to_text(json));
}

Json jobs_json(const std::vector<storage::JobRecord>& jobs) {
  Json list = Json::array();
  for (const storage::JobRecord& job : jobs) list.push_back(job_json(job));
  return list;
}

http::Response submit_response(const SubmitOutcome& outcome) {
  if (outcome.refusal) {
    return dispatch_problem({outcome.refusal->kind, dispatch::in_keys(outcome.refusal->message)});
  }
  const Json json = {{"jobs", jobs_json(outcome.jobs)},
                     {"is_repeated", outcome.is_repeated},
                     {"notes", plan_notes_json(outcome.notes)}};
  http::Response response = http::json_response(to_text(json), outcome.has_new() ? 202 : 200);
  response.cache_control = "no-store";
  if (outcome.jobs.size() == 1) {
    response.headers.emplace_back("Location",
                                  fmt::format("/api/v1/jobs/{}", outcome.jobs.front().id));
  }
  return response;
}

// As whom a token submits: a user of the command line may be called the same.
std::string submitter_of(const std::string& token) {
  return "token:" + token;
}

// Who cancels a job of somebody else needs the scope for it.
void require_own_job(const Context& context, const http::Request& request,
                     const storage::JobRecord& job, const std::string& token) {
  if (job.submitted_by != submitter_of(token)) require_scope(context, request, "cancel");
}

void tell_of_change(const Context& context) {
  if (context.options.jobs_changed) context.options.jobs_changed();
}

}  // namespace

http::Response post_jobs(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"dry_run"});
  require_cluster(context);
  const std::string who = submitter_of(require_submitter(context, request));
  dispatch::SubmitRequest wanted{
      read_submissions(request), who, idempotency_key(request), true, {}};
  const dispatch::ClusterSettings& settings = context.options.dispatcher->settings();
  wanted.limits = {settings.jobs_per_minute, settings.jobs_unfinished};
  if (parameters.boolean("dry_run").value_or(false)) return dry_run(context, wanted.submissions);
  const SubmitOutcome outcome = context.options.dispatcher->submit(wanted);
  tell_of_change(context);
  return submit_response(outcome);
}

http::Response get_jobs(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {"limit", "cursor"});
  const auto store = jobs_to_read(context);
  const std::int64_t limit = parameters.limit();
  std::optional<storage::JobRowId> before;
  if (const auto text = parameters.text("cursor")) {
    before = require_cursor(*text, kNewestFirst, "jobs").id;
  }
  // One more than a page tells whether there is another page.
  auto jobs = store->jobs(limit + 1, before);
  const bool has_more = jobs.size() > static_cast<std::size_t>(limit);
  if (has_more) jobs.pop_back();
  Json json;
  json["jobs"] = jobs_json(jobs);
  json["next_cursor"] = nullptr;
  const auto& slurm_error = context.options.slurm_error;
  json["slurm_error"] = null_if_empty(slurm_error ? slurm_error() : std::string());
  const auto& asked_at = context.options.slurm_asked_at;
  json["slurm_asked_at"] = null_if_empty(asked_at ? asked_at() : std::string());
  std::optional<std::string> next;
  if (has_more) {
    next = encode_cursor({std::string(kNewestFirst), std::nullopt, jobs.back().id, "jobs"});
    json["next_cursor"] = *next;
  }
  http::Response response = hashed_response(to_text(json));
  if (next) response.headers.push_back(next_link(request, parameters, *next));
  return response;
}

http::Response get_job(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  const auto store = jobs_to_read(context);
  const storage::JobRecord job = find_job(*store, request);
  const Json json = job_details_json(job, store->runs_of(job));
  return hashed_response(to_text(json));
}

http::Response delete_job(Context& context, const http::Request& request) {
  const QueryParameters parameters(request, {});
  require_cluster(context);
  const std::string token = require_submitter(context, request);
  const storage::JobRecord known = find_job(*context.options.jobs, request);
  require_own_job(context, request, known, token);
  const auto cancelled = context.options.dispatcher->cancel(known.id);
  tell_of_change(context);
  if (!cancelled) return dispatch_problem(cancelled.error());
  const bool is_over = storage::is_final(cancelled->state);
  http::Response response = http::json_response(to_text(job_json(*cancelled)), is_over ? 200 : 202);
  response.cache_control = "no-store";
  return response;
}

}  // namespace llmb::api
