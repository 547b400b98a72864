// What `llmb-report serve` can be told, by the command line or by its configuration file. What is
// not set here is left to the next source: command line, file, environment, default.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/cluster_section.h"
#include "server/cli/configuration_reader.h"
#include "server/cli/retention_filters.h"
#include "server/ingest/ingest.h"

namespace llmb::cli {

struct ServeSettings {
  std::vector<ingest::RootOptions> roots;  // empty: not set
  std::optional<std::string> listen;
  std::optional<std::string> database;
  std::optional<std::string> catalog_file;
  std::optional<std::string> tls_certificate_file;
  std::optional<std::string> tls_key_file;
  std::optional<bool> behind_proxy;
  std::optional<bool> receive;
  std::optional<bool> read_only;
  std::optional<bool> anew;
  std::optional<bool> stand_by;
  std::optional<bool> allow_network_file_system;
  std::vector<std::string> allowed_hosts;  // empty: not set
  std::vector<std::string> cors_origins;   // empty: not set
  std::optional<ClusterSection> cluster;
  std::vector<RetentionFilters> retention;  // each of which policy_of() takes
  std::optional<int> http_threads;
  std::optional<int> reader_threads;
  std::optional<int> connections_max;
  std::optional<int> open_files_max;
  std::optional<int> metadata_operations_per_s_max;
};

// Every setting of `first`, and where it has none, that of `second`.
ServeSettings first_of(ServeSettings first, const ServeSettings& second);

// YAML; see configuration_help() for the keys. Relative paths are meant from the file's folder.
// Throws BadConfiguration.
ServeSettings parse_serve_configuration(const std::string& yaml, const std::string& file);
ServeSettings read_serve_configuration(const std::string& file);

// The keys, each with its default or an example.
std::string configuration_help();

}  // namespace llmb::cli
