#include "server/cli/serve_settings.h"
#include "parser/foundation/text.h"
#include "server/http/server_options.h"
#include "storage/database_place.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace llmb::cli {
namespace {

ingest::RootOptions root_of(const ConfigurationReader& reader, const YAML::Node& node) {
  if (node.IsScalar()) return {reader.path(node, "roots"), {}};
  ingest::RootOptions root;
  reader.read_map(
      node, "an entry of roots",
      {{"path", [&](const YAML::Node& value) { root.path = reader.path(value, "path"); }},
       {"cluster", [&](const YAML::Node& value) { root.cluster = reader.text(value, "cluster"); }},
       {"gpu_type", [&](const YAML::Node& value) {
          root.gpu_type = parser::lower(reader.text(value, "gpu_type"));
        }}});
  if (root.path.empty()) reader.complain(node.Mark(), "an entry of roots has no 'path'");
  return root;
}

RetentionFilters retention_of(const ConfigurationReader& reader, const YAML::Node& node) {
  RetentionFilters filters;
  const auto text = [&](const char* key, std::string& into) {
    return std::pair<std::string_view, std::function<void(const YAML::Node&)>>(
        key, [&reader, &into, key](const YAML::Node& value) { into = reader.text(value, key); });
  };
  const auto flag = [&](const char* key, bool& into) {
    return std::pair<std::string_view, std::function<void(const YAML::Node&)>>(
        key, [&reader, &into, key](const YAML::Node& value) { into = reader.boolean(value, key); });
  };
  reader.read_map(
      node, "an entry of retention",
      {text("older_than", filters.older_than), text("cluster", filters.cluster),
       text("root", filters.root), flag("gone", filters.gone), flag("log_text", filters.log_text)});
  const auto policy = policy_of(filters, {});
  if (!policy) reader.complain(node.Mark(), "an entry of retention: " + policy.error().message);
  return filters;
}

KeyHandlers limit_handlers(const ConfigurationReader& reader, ServeSettings& settings) {
  KeyHandlers handlers;
  const auto add = [&](const char* key, std::optional<int>& into, int max) {
    handlers.emplace_back(key, [&reader, &into, key, max](const YAML::Node& node) {
      into = reader.integer(node, key, 1, max);
    });
  };
  add("http_threads", settings.http_threads, 64);
  add("reader_threads", settings.reader_threads, 64);
  add("connections_max", settings.connections_max, 1'000'000);
  add("open_files_max", settings.open_files_max, 100'000);
  add("metadata_operations_per_s_max", settings.metadata_operations_per_s_max, 1'000'000);
  return handlers;
}

ServeSettings read_document(const ConfigurationReader& reader, const YAML::Node& document) {
  ServeSettings settings;
  KeyHandlers handlers;
  const auto add_path = [&](const char* key, std::optional<std::string>& into) {
    handlers.emplace_back(
        key, [&reader, &into, key](const YAML::Node& node) { into = reader.path(node, key); });
  };
  const auto add_boolean = [&](const char* key, std::optional<bool>& into) {
    handlers.emplace_back(
        key, [&reader, &into, key](const YAML::Node& node) { into = reader.boolean(node, key); });
  };
  handlers.emplace_back("roots", [&](const YAML::Node& node) {
    reader.require_list(node, "roots");
    for (const auto& entry : node) settings.roots.push_back(root_of(reader, entry));
  });
  handlers.emplace_back(
      "listen", [&](const YAML::Node& node) { settings.listen = reader.text(node, "listen"); });
  handlers.emplace_back("db", [&](const YAML::Node& node) {
    const std::string place = reader.text(node, "db");
    settings.database = storage::is_postgresql(place) ? place : reader.path(node, "db");
  });
  add_path("catalog", settings.catalog_file);
  add_path("tls_cert", settings.tls_certificate_file);
  add_path("tls_key", settings.tls_key_file);
  add_boolean("behind_proxy", settings.behind_proxy);
  add_boolean("receive", settings.receive);
  add_boolean("read_only", settings.read_only);
  add_boolean("anew", settings.anew);
  add_boolean("stand_by", settings.stand_by);
  handlers.emplace_back("allowed_hosts", [&](const YAML::Node& node) {
    settings.allowed_hosts = reader.texts(node, "allowed_hosts");
  });
  handlers.emplace_back("cors_origins", [&](const YAML::Node& node) {
    settings.cors_origins = reader.texts(node, "cors_origins");
  });
  add_boolean("allow_network_file_system", settings.allow_network_file_system);
  handlers.emplace_back("retention", [&](const YAML::Node& node) {
    reader.require_list(node, "retention");
    for (const auto& entry : node) settings.retention.push_back(retention_of(reader, entry));
  });
  handlers.emplace_back("limits", [&](const YAML::Node& node) {
    reader.read_map(node, "limits", limit_handlers(reader, settings));
  });
  handlers.emplace_back("cluster", [&](const YAML::Node& node) {
    settings.cluster = read_cluster_section(reader, node);
  });
  reader.read_map(document, "the configuration", handlers);
  return settings;
}

template <typename T>
void take_if_unset(std::optional<T>& into, const std::optional<T>& from) {
  if (!into) into = from;
}

}  // namespace

std::string configuration_help() {
  constexpr std::string_view kBeforeConnectionsMax =
      R"(Configuration file (YAML, every key optional):
  roots:                            # trees to watch; a plain path will do
    - path: /lustre/llmb/workloads/pretrain_grok1
      cluster: eos
      gpu_type: h100                # of runs of which nothing else says it
    - /home/me/experiments
  listen: 127.0.0.1:8642
  db: /var/lib/llmb-report/llmb-report.db
  catalog: my-models.json           # see parse --catalog
  tls_cert: server.pem              # relative to this file
  tls_key: server.key
  behind_proxy: false
  receive: false                    # runs that agents push (ingest --push)
  read_only: false                  # serve what another process writes into the database
  stand_by: false                   # the same until that process ends, and then do its work
  anew: false                       # read again what an earlier version told; see ingest --help
  allowed_hosts: [report.example.org]
  cors_origins: [https://notebooks.example.org]   # whose pages may read the API
  allow_network_file_system: false
  limits:
    http_threads: 2
    reader_threads: 2
    connections_max: )";
  constexpr std::string_view kAfterIt = R"(
    open_files_max: 256
    metadata_operations_per_s_max: 2000   # on network file systems
  retention:                        # runs that are removed, once a day; see prune --help
    - {older_than: 2y, cluster: eos}
    - {older_than: 30d, gone: true}      # their logs are there no more
    - {older_than: 90d, log_text: true}  # only the text of pushed logs
  cluster:                          # jobs through Slurm; see llmb-report submit --help
    name: eos
    workload_folder: /lustre/llmb/workloads/pretrain_grok1   # also watched
    submitters: [ci, alice]         # names of tokens with the scope 'submit'
    slurm: {account: bench, partition: batch})";
  const http::ServerOptions by_default;
  return fmt::format("{}{}{}", kBeforeConnectionsMax, by_default.connections_max, kAfterIt);
}

ServeSettings first_of(ServeSettings first, const ServeSettings& second) {
  if (first.roots.empty()) first.roots = second.roots;
  if (first.allowed_hosts.empty()) first.allowed_hosts = second.allowed_hosts;
  if (first.cors_origins.empty()) first.cors_origins = second.cors_origins;
  if (first.retention.empty()) first.retention = second.retention;
  take_if_unset(first.cluster, second.cluster);
  take_if_unset(first.listen, second.listen);
  take_if_unset(first.database, second.database);
  take_if_unset(first.catalog_file, second.catalog_file);
  take_if_unset(first.tls_certificate_file, second.tls_certificate_file);
  take_if_unset(first.tls_key_file, second.tls_key_file);
  take_if_unset(first.behind_proxy, second.behind_proxy);
  take_if_unset(first.receive, second.receive);
  take_if_unset(first.read_only, second.read_only);
  take_if_unset(first.anew, second.anew);
  take_if_unset(first.stand_by, second.stand_by);
  take_if_unset(first.allow_network_file_system, second.allow_network_file_system);
  take_if_unset(first.http_threads, second.http_threads);
  take_if_unset(first.reader_threads, second.reader_threads);
  take_if_unset(first.connections_max, second.connections_max);
  take_if_unset(first.open_files_max, second.open_files_max);
  take_if_unset(first.metadata_operations_per_s_max, second.metadata_operations_per_s_max);
  return first;
}

ServeSettings parse_serve_configuration(const std::string& yaml, const std::string& file) {
  const ConfigurationReader reader(file);
  try {
    const YAML::Node document = YAML::Load(yaml);
    if (document.IsNull()) return {};
    return read_document(reader, document);
  } catch (const YAML::Exception& error) {
    reader.complain(error.mark, "not valid YAML: " + error.msg);
  }
}

ServeSettings read_serve_configuration(const std::string& file) {
  return parse_serve_configuration(read_configuration_file(file), file);
}

}  // namespace llmb::cli
