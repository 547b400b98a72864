#include "server/api/job_lookup.h"

#include <fmt/format.h>

#include "server/api/query_parameters.h"
#include "server/api/request_error.h"

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
  throw RequestError(
      501, "Jobs are off",
      "Jobs are off until the configuration of `llmb-report serve` names a cluster and "
      "a token with the scope 'submit' says who may submit.");
}

storage::JobRecord find_job(const Context& context, const http::Request& request) {
  const std::int64_t id = id_parameter(request);
  require_cluster(context);
  auto job = context.options.jobs->job(id);
  if (!job) {
    throw not_found(
        fmt::format("There is no job with the id {}; the list of jobs has those there are. "
                    "Slurm's own number is 'job_id'.",
                    id));
  }
  return std::move(*job);
}

http::Response dispatch_problem(const dispatch::Refusal& refusal) {
  const ProblemKind kind = problem_kind(refusal.kind);
  http::Response response = http::problem(kind.status, kind.title, refusal.message);
  if (kind.status == 429) response.headers.emplace_back("Retry-After", "60");
  if (kind.status == 503) response.headers.emplace_back("Retry-After", "10");
  return response;
}

}  // namespace llmb::api
