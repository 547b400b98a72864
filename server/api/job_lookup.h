// What the resources of jobs share: the refusal where no cluster is configured, where jobs are
// read, the job of a request, and dispatch's refusals as problem responses.
#pragma once

#include <memory>
#include <string>

#include "server/api/context.h"
#include "server/api/query_parameters.h"
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

// The file that a request asks for of a job's logs, by its parameter `of`.
struct AskedJobLog {
  std::string of;    // run or batch
  std::string path;  // that dispatch named; empty where there is none yet
  bool job_has_ended = false;
};
// Throws RequestError: 400, 404, 501, and 503 where the job's folder cannot be looked into.
AskedJobLog asked_job_log(const Context& context, const http::Request& request,
                          const QueryParameters& parameters);

http::Response dispatch_problem(const dispatch::Refusal& refusal);

}  // namespace llmb::api
