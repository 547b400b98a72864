// What an Api is told: the database, and whom to ask for what is not in it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "server/http/event_channel.h"
#include "server/http/server_options.h"
#include "server/ingest/ingest.h"
#include "server/ingest/retention.h"

namespace llmb::dispatch {
class Dispatcher;
}
namespace llmb::storage {
class JobStore;
}

namespace llmb::api {

struct ApiOptions {
  std::string database_path;
  // Asked on every request that shows them; must be callable from any thread.
  std::function<ingest::IngestStatus()> ingest_status;
  std::function<http::ServerCounters()> server_counters;
  std::function<ingest::RetentionStatus()> retention_status;  // null: no run is removed
  http::EventChannel* events = nullptr;                       // outlives the Api
  std::string version;                                        // of the program
  bool reads_only = false;  // another process reads the logs into the database
  // Both null: jobs are off, and shown only where `reads_only`. They outlive the Api.
  dispatch::Dispatcher* dispatcher = nullptr;
  storage::JobStore* jobs = nullptr;
  // Whom a bearer token is looked up with; there where jobs are on, or runs are received.
  storage::JobStore* tokens = nullptr;
  // Has something written by ingest's writer (Ingest::write). Null: no pushed runs are received.
  std::function<bool(std::function<void(storage::Writer&)>)> write;
  std::vector<std::string> submitters;  // names of the tokens that may submit; empty: none may
  // Called after a job was submitted or is to be cancelled, to look at the queue at once.
  std::function<void()> jobs_changed;
  // Why Slurm gave no answer when it was asked last; empty where it did. Null where jobs are off.
  std::function<std::string()> slurm_error;
  std::function<std::string()> slurm_asked_at;  // when that was; empty: not asked so far
  // Whose pages a browser lets read what the API answers to a GET or HEAD; "*": any. No page of
  // another origin may submit or cancel: that takes headers that a browser does not send for them.
  std::vector<std::string> cors_origins;
  // How many runs scaling and history measure at most, the newest ones: all are held at once, and
  // answered with.
  std::size_t measured_runs_max = 10'000;
  // Null: the built-in one, which is loaded when it is first asked for.
  std::shared_ptr<const parser::Catalog> catalog;
};

}  // namespace llmb::api
