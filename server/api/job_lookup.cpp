#include "server/api/job_lookup.h"

#include <fmt/format.h>

#include "server/api/query_parameters.h"
#include "server/api/request_error.h"
#include "server/dispatch/job_evidence.h"

namespace llmb::api {
namespace {

struct ProblemKind {
  int status;
  const char* title;
};

ProblemKind problem_kind(dispatch::Refusal::Kind kind) {
  using Kind = dispatch::Refusal::Kind;
  switch (kind) {
    case Kind::invalid:
      return {400, "Bad request"};
    case Kind::conflict:
      return {409, "Conflict"};
    case Kind::not_found:
      return {404, "Not found"};
    case Kind::too_many:
      return {429, "Too many jobs"};
    case Kind::refused:
      return {422, "Refused by Slurm"};
    case Kind::unavailable:
      return {503, "Slurm unavailable"};
  }
  return {503, "Slurm unavailable"};
}

}  // namespace

void require_cluster(const Context& context) {
  if (context.options.dispatcher != nullptr && context.options.jobs != nullptr) return;
  if (context.options.reads_only) {
    throw RequestError(501, "Jobs are only shown",
                       "This server only reads the database: it shows jobs, but does not submit or "
                       "cancel them, nor read their logs. The server whose configuration names "
                       "the jobs' cluster does.");
  }
  throw RequestError(
      501, "Jobs are off",
      "Jobs are off until the configuration of `llmb-report serve` names a cluster and "
      "a token with the scope 'submit' says who may submit.");
}

std::shared_ptr<storage::JobStore> jobs_to_read(const Context& context) {
  const ApiOptions& options = context.options;
  if (options.reads_only) {
    return std::make_shared<storage::JobStore>(storage::OpenOptions{options.database_path},
                                               storage::JobAccess::read);
  }
  require_cluster(context);
  return {std::shared_ptr<void>(), options.jobs};
}

storage::JobRecord find_job(storage::JobStore& jobs, const http::Request& request) {
  const std::int64_t id = id_parameter(request);
  auto job = jobs.job(id);
  if (!job) {
    throw not_found(
        fmt::format("There is no job with the id {}; the list of jobs has those there are. "
                    "Slurm's own number is 'job_id'.",
                    id));
  }
  return std::move(*job);
}

AskedJobLog asked_job_log(const Context& context, const http::Request& request,
                          const QueryParameters& parameters) {
  AskedJobLog asked;
  asked.of = parameters.text("of").value_or("run");
  if (asked.of != "run" && asked.of != "batch") {
    throw bad_request("Parameter 'of' is '" + asked.of +
                      "'; it has to be run (the newest start's log) or batch (the script's own).");
  }
  require_cluster(context);
  const storage::JobRecord job = find_job(*context.options.jobs, request);
  const dispatch::JobLogs logs = dispatch::job_logs(job);
  asked.path = asked.of == "run" ? logs.log : logs.batch_output;
  if (asked.path.empty() && !logs.error.empty()) throw log_unreadable(logs.error);
  asked.job_has_ended = storage::is_final(job.state);
  return asked;
}

http::Response dispatch_problem(const dispatch::Refusal& refusal) {
  const ProblemKind kind = problem_kind(refusal.kind);
  http::Response response = http::problem(kind.status, kind.title, refusal.message);
  if (kind.status == 429) response.headers.emplace_back("Retry-After", "60");
  if (kind.status == 503) response.headers.emplace_back("Retry-After", "10");
  return response;
}

}  // namespace llmb::api
