// Api: the resources of /api/v1, the health endpoints and /metrics, as routes of a Router.
// One file a resource: request -> storage -> JSON. Every shape is described in openapi.json.
//
// Handlers are called on any of the server's threads, several at once; each borrows a read-only
// database connection for as long as it reads, and holds none while its answer is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "server/http/event_channel.h"
#include "server/http/router.h"
#include "server/http/server.h"
#include "server/ingest/ingest.h"
#include "storage/job_records.h"

namespace llmb::dispatch {
class Dispatcher;
}
namespace llmb::storage {
class JobStore;
}

namespace llmb::api {

struct Context;

struct ApiOptions {
  std::string database_path;
  // Asked on every request that shows them; must be callable from any thread.
  std::function<ingest::IngestStatus()> ingest_status;
  std::function<http::ServerCounters()> server_counters;
  http::EventChannel* events = nullptr;  // outlives the Api
  std::string version;                   // of the program
  // Both null: jobs are off. They outlive the Api.
  dispatch::Dispatcher* dispatcher = nullptr;
  storage::JobStore* jobs = nullptr;
  std::vector<std::string> submitters;  // names of the tokens that may submit; empty: none may
  // Called after a job was submitted or is to be cancelled, to look at the queue at once.
  std::function<void()> jobs_changed;
  // Why Slurm gave no answer when it was asked last; empty where it did. Null where jobs are off.
  std::function<std::string()> slurm_error;
  // Null: the built-in one, which is loaded when it is first asked for.
  std::shared_ptr<const parser::Catalog> catalog;
};

class Api {
 public:
  // Opens nothing: the database may come, go and come back while the Api lives.
  explicit Api(ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // The routes refer to this Api, which must outlive the Router's last dispatch.
  void add_routes(http::Router& router);

 private:
  std::unique_ptr<Context> context_;
};

// What ingest reports, as the event "run" that browsers listen to.
void publish_change(http::EventChannel& channel, const ingest::RunChange& change);

// A job's new state, as the event "job"; and for each of its runs the event "run".
void publish_job_change(http::EventChannel& channel, const storage::JobRecord& job,
                        const std::vector<storage::RunId>& runs);

}  // namespace llmb::api
