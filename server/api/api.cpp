#include "server/api/api.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <utility>

#include "server/api/context.h"
#include "server/api/cross_origin.h"
#include "server/api/request_error.h"
#include "server/api/resources.h"
#include "server/api/tagged_response.h"

namespace llmb::api {
namespace {

using http::Work;

constexpr std::size_t kSubmissionBytesMax = std::size_t{128} * 1024;
constexpr std::size_t kPushBytesMax = std::size_t{4} << 20U;

struct Route {
  const char* method;
  const char* pattern;
  http::Response (*handler)(Context&, const http::Request&);
  Work work;
  std::size_t body_bytes_max = kSubmissionBytesMax;
};
constexpr std::array kRoutes = {
    Route{"GET", "/api/v1/choices", get_choices, Work::quick},
    Route{"GET", "/api/v1/experiments", get_experiments, Work::quick},
    Route{"GET", "/api/v1/failures", get_failures, Work::computing},
    Route{"GET", "/api/v1/runs", get_runs, Work::quick},
    Route{"GET", "/api/v1/runs.csv", get_runs_csv, Work::computing},
    Route{"GET", "/api/v1/runs.ndjson", get_runs_ndjson, Work::computing},
    Route{"GET", "/api/v1/runs/{id}", get_run, Work::quick},
    Route{"GET", "/api/v1/runs/{id}/steps", get_run_steps, Work::computing},
    Route{"GET", "/api/v1/runs/{id}/steps.csv", get_run_steps_csv, Work::computing},
    Route{"GET", "/api/v1/runs/{id}/steps.ndjson", get_run_steps_ndjson, Work::computing},
    Route{"GET", "/api/v1/runs/{id}/log", get_run_log, Work::waiting},
    Route{"GET", "/api/v1/runs/{id}/log/matches", get_run_log_matches, Work::waiting},
    Route{"GET", "/api/v1/runs/{id}/log/text", get_run_log_text, Work::waiting},
    Route{"GET", "/api/v1/runs/{id}/statistics", get_run_statistics, Work::computing},
    Route{"GET", "/api/v1/runs/{id}/metrics", get_run_metrics, Work::computing},
    Route{"GET", "/api/v1/runs/{id}/agreement", get_run_agreement, Work::computing},
    Route{"GET", "/api/v1/compare", get_comparison, Work::computing},
    Route{"GET", "/api/v1/scaling", get_scaling, Work::computing},
    Route{"GET", "/api/v1/history", get_history, Work::computing},
    Route{"GET", "/api/v1/recipes", get_recipes, Work::quick},
    Route{"GET", "/api/v1/references", get_references, Work::quick},
    Route{"GET", "/api/v1/references/audit", get_reference_audit, Work::computing},
    Route{"GET", "/api/v1/runs/{id}/nccl", get_run_nccl, Work::quick},
    Route{"GET", "/api/v1/runs/{id}/ranks", get_run_ranks, Work::quick},
    Route{"GET", "/api/v1/runs/{id}/checkpoints", get_run_checkpoints, Work::quick},
    Route{"GET", "/api/v1/runs/{id}/insight", get_run_insight, Work::computing},
    Route{"GET", "/api/v1/jobs", get_jobs, Work::quick},
    Route{"POST", "/api/v1/jobs", post_jobs, Work::waiting},
    Route{"GET", "/api/v1/jobs/{id}", get_job, Work::quick},
    Route{"DELETE", "/api/v1/jobs/{id}", delete_job, Work::waiting},
    Route{"GET", "/api/v1/jobs/{id}/log", get_job_log, Work::waiting},
    Route{"GET", "/api/v1/jobs/{id}/log/text", get_job_log_text, Work::waiting},
    Route{"GET", "/api/v1/push", get_push, Work::waiting},
    Route{"POST", "/api/v1/push", post_push, Work::waiting, kPushBytesMax},
    Route{"POST", "/api/v1/push/text", post_push_text, Work::waiting, kPushBytesMax},
    Route{"GET", "/api/v1/roots", get_roots, Work::quick},
    Route{"GET", "/api/v1/status", get_status, Work::quick},
    Route{"GET", "/api/v1/events", get_events, Work::quick},
    Route{"GET", "/api/v1/openapi.json", get_openapi, Work::quick},
    Route{"GET", "/healthz", get_health, Work::quick},
    Route{"GET", "/readyz", get_readiness, Work::quick},
    Route{"GET", "/metrics", get_metrics, Work::quick},
};

std::string random_instance() {
  std::random_device device;
  return hash_text(fmt::format("{}{}", device(), device())).substr(0, 8);
}

RequestError database_unavailable(const storage::StorageError& error) {
  return {503, "Database unavailable", error.what(), {{"Retry-After", "5"}}};
}

// The time that one answer takes, its body included if that is made; recorded when both are done.
class TimedAnswer {
 public:
  TimedAnswer(RequestMetrics& metrics, const char* route) : metrics_(metrics), route_(route) {}
  ~TimedAnswer() { metrics_.record(route_, taken_); }
  TimedAnswer(const TimedAnswer&) = delete;
  TimedAnswer& operator=(const TimedAnswer&) = delete;

  // What `part` returns. Errors of the database become responses.
  template <typename Part>
  auto time(const Part& part) {
    const Stopwatch stopwatch(taken_);
    try {
      return part();
    } catch (const storage::StorageError& error) {
      throw database_unavailable(error);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Adds the time that it lived, however its scope is left.
  class Stopwatch {
   public:
    explicit Stopwatch(Clock::duration& sum) : sum_(sum) {}
    ~Stopwatch() { sum_ += Clock::now() - began_; }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

   private:
    Clock::duration& sum_;
    const Clock::time_point began_ = Clock::now();
  };

  RequestMetrics& metrics_;
  const char* const route_;
  Clock::duration taken_{};
};

http::Response answer(Context& context, const Route& route, const http::Request& request) {
  const auto timed = std::make_shared<TimedAnswer>(context.request_metrics, route.pattern);
  http::Response response = timed->time([&] { return route.handler(context, request); });
  if (response.make_body) {
    response.make_body = [timed, make = std::move(response.make_body)] {
      return timed->time(make);
    };
  }
  if (response.write_body) {
    response.write_body = [timed, write = std::move(response.write_body)](
                              const http::TextSink& sink) { timed->time([&] { write(sink); }); };
  }
  return response;
}

}  // namespace

Context::Context(ApiOptions options_in)
    : options(std::move(options_in)), instance(random_instance()), readers(options.database_path) {}

Api::Api(ApiOptions options) : context_(std::make_unique<Context>(std::move(options))) {}
Api::~Api() = default;

void Api::measure_ahead(const std::function<bool()>& is_stopping) {
  try {
    context_->readers.with_reader([&](storage::Reader& reader) {
      context_->kept_runs.measure_ahead(reader, context_->catalog(),
                                        context_->options.measured_runs_max, is_stopping);
      return true;
    });
  } catch (const storage::StorageError& error) {
    spdlog::debug("no runs were measured ahead: {}", error.what());
  }
}

void Api::add_routes(http::Router& router) {
  for (const Route& route : kRoutes) {
    router.add(route.method, route.pattern,
               [context = context_.get(), &route](const http::Request& request) {
                 return answer(*context, route, request);
               },
               {.work = route.work, .body_bytes_max = route.body_bytes_max});
  }
  router.set_finishing(
      [context = context_.get()](const http::Request& request, http::Response& response) {
        allow_origin(context->options.cors_origins, request, response);
      });
}

}  // namespace llmb::api
