#include "server/api/api.h"

#include <random>

#include "server/api/conditional.h"
#include "server/api/context.h"
#include "server/api/refusal.h"
#include "server/api/resources.h"

namespace llmb::api {
namespace {

constexpr std::size_t kCacheBytesMax = std::size_t{32} * 1024 * 1024;
constexpr std::size_t kSubmissionBytesMax = std::size_t{128} * 1024;

std::string random_instance() {
  std::random_device device;
  return hash_text(std::to_string(device()) + std::to_string(device())).substr(0, 8);
}

using ResourceHandler = http::Response (*)(Context&, const http::Request&);

http::Response answer(ResourceHandler handler, Context& context, const http::Request& request) {
  try {
    return handler(context, request);
  } catch (const Refusal& refusal) {
    http::Response response = http::problem(refusal.status, refusal.title, refusal.what());
    if (refusal.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  } catch (const storage::StorageError& error) {
    http::Response response = http::problem(503, "Database unavailable", error.what());
    response.headers.emplace_back("Retry-After", "5");
    return response;
  }
}

}  // namespace

Context::Context(ApiOptions options_in)
    : options(std::move(options_in)),
      instance(random_instance()),
      readers(options.database_path),
      cache(kCacheBytesMax) {}

Api::Api(ApiOptions options) : context_(std::make_unique<Context>(std::move(options))) {}
Api::~Api() = default;

void Api::add_routes(http::Router& router) {
  const auto add_method = [&](const char* method, const std::string& pattern,
                              ResourceHandler handler) {
    router.add(
        method, pattern,
        [context = context_.get(), pattern, handler](const http::Request& request) {
          const auto begin = std::chrono::steady_clock::now();
          http::Response response = answer(handler, *context, request);
          context->request_metrics.record(pattern, std::chrono::steady_clock::now() - begin);
          return response;
        },
        kSubmissionBytesMax);
  };
  const auto add = [&](const std::string& pattern, ResourceHandler handler) {
    add_method("GET", pattern, handler);
  };
  add("/api/v1/experiments", get_experiments);
  add("/api/v1/runs", get_runs);
  add("/api/v1/runs/{id}", get_run);
  add("/api/v1/runs/{id}/steps", get_run_steps);
  add("/api/v1/runs/{id}/statistics", get_run_statistics);
  add("/api/v1/runs/{id}/metrics", get_run_metrics);
  add("/api/v1/runs/{id}/agreement", get_run_agreement);
  add("/api/v1/compare", get_comparison);
  add("/api/v1/scaling", get_scaling);
  add("/api/v1/recipes", get_recipes);
  add("/api/v1/references", get_references);
  add("/api/v1/references/audit", get_reference_audit);
  add("/api/v1/runs/{id}/nccl", get_run_nccl);
  add("/api/v1/runs/{id}/checkpoints", get_run_checkpoints);
  add("/api/v1/runs/{id}/insight", get_run_insight);
  add("/api/v1/jobs", get_jobs);
  add_method("POST", "/api/v1/jobs", post_jobs);
  add("/api/v1/jobs/{id}", get_job);
  add_method("DELETE", "/api/v1/jobs/{id}", delete_job);
  add("/api/v1/jobs/{id}/log", get_job_log);
  add("/api/v1/roots", get_roots);
  add("/api/v1/status", get_status);
  add("/api/v1/events", get_events);
  add("/api/v1/openapi.json", get_openapi);
  add("/healthz", get_health);
  add("/readyz", get_readiness);
  add("/metrics", get_metrics);
}

}  // namespace llmb::api
