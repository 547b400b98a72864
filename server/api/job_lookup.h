// What the resources of jobs share: the refusal where no cluster is configured, the job of a
// request, and dispatch's refusals as problem responses.
#pragma once

#include "server/api/context.h"
#include "server/dispatch/dispatcher.h"
#include "server/http/message.h"
#include "storage/job_store.h"

namespace llmb::api {

// Throws RequestError (501) where jobs are off.
void require_cluster(const Context& context);

// Of "{id}" in the path. Throws RequestError: 501 where jobs are off, 404 where there is no such
// job.
storage::JobRecord find_job(const Context& context, const http::Request& request);

http::Response dispatch_problem(const dispatch::Refusal& refusal);

}  // namespace llmb::api
