// Daemon: ingest, API, dashboard and, where a cluster is configured, its jobs in one process, put
// together from their parts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/catalog.h"
#include "server/dispatch/cluster_settings.h"
#include "server/http/server.h"
#include "server/ingest/ingest.h"
#include "server/ingest/retention.h"

namespace llmb::cli {

struct DaemonOptions {
  ingest::IngestOptions ingest;
  http::ServerOptions http;
  std::string version;
  std::shared_ptr<const parser::Catalog> catalog;  // null: the built-in one
  // Completed; nothing: jobs are off. Names of tokens that may submit over HTTP.
  std::optional<dispatch::ClusterSettings> cluster;
  std::vector<std::string> submitters;
  std::vector<std::string> cors_origins;         // see ApiOptions
  std::vector<ingest::RetentionRule> retention;  // by which runs are removed
  bool receives = false;                         // what agents on other clusters push
  // Serves what another process writes into the database. No tree is watched, nothing is received,
  // and jobs are off.
  bool reads_only = false;
  // Does that for as long as another process writes all of the database (standing_by.h); a tree
  // that another one writes is waited for.
  bool stands_by = false;
};

// Not thread-safe: one thread makes, starts and stops it.
class Daemon {
 public:
  // Opens the database. Throws storage::StorageError.
  explicit Daemon(const DaemonOptions& options);
  ~Daemon();  // stops
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Listens first, so that a port in use is found before a log is read. Throws
  // std::runtime_error.
  void start();
  // In reverse order, within seconds. Idempotent.
  void stop();

  std::uint16_t port() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace llmb::cli
