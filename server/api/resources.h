// The handlers, one a route. What they throw becomes a problem response; paths, parameters and
// fields are described in openapi.json.
#pragma once

#include "server/api/context.h"
#include "server/http/message.h"

namespace llmb::api {

http::Response get_choices(Context& context, const http::Request& request);
http::Response get_experiments(Context& context, const http::Request& request);
http::Response get_failures(Context& context, const http::Request& request);
http::Response get_runs(Context& context, const http::Request& request);
http::Response get_run(Context& context, const http::Request& request);
http::Response get_runs_csv(Context& context, const http::Request& request);
http::Response get_runs_ndjson(Context& context, const http::Request& request);
http::Response get_run_steps(Context& context, const http::Request& request);
http::Response get_run_steps_csv(Context& context, const http::Request& request);
http::Response get_run_steps_ndjson(Context& context, const http::Request& request);
http::Response get_run_log(Context& context, const http::Request& request);
http::Response get_run_log_matches(Context& context, const http::Request& request);
http::Response get_run_log_text(Context& context, const http::Request& request);
http::Response get_run_statistics(Context& context, const http::Request& request);
http::Response get_run_metrics(Context& context, const http::Request& request);
http::Response get_run_agreement(Context& context, const http::Request& request);
http::Response get_comparison(Context& context, const http::Request& request);
http::Response get_scaling(Context& context, const http::Request& request);
http::Response get_history(Context& context, const http::Request& request);
http::Response get_recipes(Context& context, const http::Request& request);
http::Response get_references(Context& context, const http::Request& request);
http::Response get_reference_audit(Context& context, const http::Request& request);
http::Response get_run_nccl(Context& context, const http::Request& request);
http::Response get_run_ranks(Context& context, const http::Request& request);
http::Response get_run_checkpoints(Context& context, const http::Request& request);
http::Response get_run_insight(Context& context, const http::Request& request);
http::Response get_jobs(Context& context, const http::Request& request);
http::Response post_jobs(Context& context, const http::Request& request);
http::Response get_job(Context& context, const http::Request& request);
http::Response delete_job(Context& context, const http::Request& request);
http::Response get_job_log(Context& context, const http::Request& request);
http::Response get_job_log_text(Context& context, const http::Request& request);
http::Response get_push(Context& context, const http::Request& request);
http::Response post_push(Context& context, const http::Request& request);
http::Response post_push_text(Context& context, const http::Request& request);
http::Response get_roots(Context& context, const http::Request& request);
http::Response get_status(Context& context, const http::Request& request);
http::Response get_events(Context& context, const http::Request& request);
http::Response get_openapi(Context& context, const http::Request& request);
http::Response get_health(Context& context, const http::Request& request);
http::Response get_readiness(Context& context, const http::Request& request);
http::Response get_metrics(Context& context, const http::Request& request);

}  // namespace llmb::api
