// What the resources of jobs share: the refusal where no cluster is configured, where jobs are
// read, the job of a request, and dispatch's refusals as problem responses.
#pragma once

#include <memory>

#include "server/api/context.h"
#include "server/dispatch/dispatcher.h"
#include "server/http/message.h"
#include "storage/job_store.h"

namespace llmb::api {

// Throws RequestError (501) where jobs are off.
void require_cluster(const Context& context);

// A server that only reads has them, too: from the database, with a connection that is made for the
// request, as nothing tells an older one that its file was replaced. Throws RequestError (501)
// where jobs are off.
std::shared_ptr<storage::JobStore> jobs_to_read(const Context& context);

// Of "{id}" in the path. Throws RequestError (404) where there is no such job.
storage::JobRecord find_job(storage::JobStore& jobs, const http::Request& request);

http::Response dispatch_problem(const dispatch::Refusal& refusal);

}  // namespace llmb::api
