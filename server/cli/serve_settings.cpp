#include "server/cli/serve_settings.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

namespace llmb::cli {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1024} * 1024;

using KeyHandlers =
    std::vector<std::pair<std::string_view, std::function<void(const YAML::Node&)>>>;

// Reads values of one file; every complaint names the file and the line.
class ConfigurationReader {
 public:
  explicit ConfigurationReader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void complain(const YAML::Mark& mark, const std::string& what) const {
    const std::string line = mark.is_null() ? "" : ":" + std::to_string(mark.line + 1);
    throw BadConfiguration(file_ + line + ": " + what);
  }

  void read_map(const YAML::Node& node, const std::string& where,
                const KeyHandlers& handlers) const {
    if (!node.IsMap()) complain(node.Mark(), where + " has to be a list of 'key: value' lines");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
      const auto handler = std::find_if(handlers.begin(), handlers.end(),
                                        [&](const auto& pair) { return pair.first == key; });
      if (handler == handlers.end()) {
        std::string known;
        for (const auto& [name, unused] : handlers) {
          known.append(known.empty() ? "" : ", ").append(name);
        }
        std::string what = "unknown key '";
        what.append(key).append("' in ").append(where).append("; known: ").append(known);
        complain(entry.first.Mark(), what);
      }
      if (!seen.insert(key).second) {
        std::string what = "key '";
        what.append(key).append("' is there twice in ").append(where);
        complain(entry.first.Mark(), what);
      }
      handler->second(entry.second);
    }
  }

  std::string text(const YAML::Node& node, const std::string& key) const {
    if (!node.IsScalar() || node.Scalar().empty()) {
      complain(node.Mark(), "'" + key + "' has to be a text");
    }
    return node.Scalar();
  }

  std::string path(const YAML::Node& node, const std::string& key) const {
    const std::filesystem::path folder = std::filesystem::path(file_).parent_path();
    return (folder / text(node, key)).lexically_normal().string();
  }

  bool boolean(const YAML::Node& node, const std::string& key) const {
    if (node.IsScalar() && node.Scalar() == "true") return true;
    if (node.IsScalar() && node.Scalar() == "false") return false;
    complain(node.Mark(), "'" + key + "' has to be true or false");
  }

  int integer(const YAML::Node& node, const std::string& key, int min, int max) const {
    int value = 0;
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < min ||
        value > max) {
      complain(node.Mark(), "'" + key + "' has to be a whole number from " + std::to_string(min) +
                                " to " + std::to_string(max));
    }
    return value;
  }

  ingest::RootOptions root(const YAML::Node& node) const {
    if (node.IsScalar()) return {path(node, "roots"), {}};
    ingest::RootOptions root;
    read_map(
        node, "an entry of roots",
        {{"path", [&](const YAML::Node& value) { root.path = path(value, "path"); }},
         {"cluster", [&](const YAML::Node& value) { root.cluster = text(value, "cluster"); }}});
    if (root.path.empty()) complain(node.Mark(), "an entry of roots has no 'path'");
    return root;
  }

  void require_list(const YAML::Node& node, const std::string& key) const {
    if (!node.IsSequence() || node.size() == 0) {
      complain(node.Mark(), "'" + key + "' has to be a list of '- value' lines");
    }
  }

 private:
  const std::string file_;
};

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
    for (const auto& entry : node) settings.roots.push_back(reader.root(entry));
  });
  handlers.emplace_back(
      "listen", [&](const YAML::Node& node) { settings.listen = reader.text(node, "listen"); });
  add_path("db", settings.database);
  add_path("catalog", settings.catalog_file);
  add_path("tls_cert", settings.tls_certificate_file);
  add_path("tls_key", settings.tls_key_file);
  add_boolean("behind_proxy", settings.behind_proxy);
  handlers.emplace_back("allowed_hosts", [&](const YAML::Node& node) {
    reader.require_list(node, "allowed_hosts");
    for (const auto& entry : node) {
      settings.allowed_hosts.push_back(reader.text(entry, "allowed_hosts"));
    }
  });
  add_boolean("allow_network_file_system", settings.allow_network_file_system);
  handlers.emplace_back("limits", [&](const YAML::Node& node) {
    reader.read_map(node, "limits", limit_handlers(reader, settings));
  });
  reader.read_map(document, "the configuration", handlers);
  return settings;
}

template <typename T>
void take_if_unset(std::optional<T>& into, const std::optional<T>& from) {
  if (!into) into = from;
}

}  // namespace

const std::string_view kConfigurationHelp = R"(Configuration file (YAML, every key optional):
  roots:                            # trees to watch; a plain path will do
    - path: /lustre/llmb/workloads/pretrain_grok1
      cluster: eos
    - /home/me/experiments
  listen: 127.0.0.1:8642
  db: /var/lib/llmb-report/llmb-report.db
  catalog: my-models.json           # see parse --catalog
  tls_cert: server.pem              # relative to this file
  tls_key: server.key
  behind_proxy: false
  allowed_hosts: [report.example.org]
  allow_network_file_system: false
  limits:
    http_threads: 2
    reader_threads: 2
    connections_max: 16384
    open_files_max: 256
    metadata_operations_per_s_max: 2000   # on network file systems)";

ServeSettings first_of(ServeSettings first, const ServeSettings& second) {
  if (first.roots.empty()) first.roots = second.roots;
  if (first.allowed_hosts.empty()) first.allowed_hosts = second.allowed_hosts;
  take_if_unset(first.listen, second.listen);
  take_if_unset(first.database, second.database);
  take_if_unset(first.catalog_file, second.catalog_file);
  take_if_unset(first.tls_certificate_file, second.tls_certificate_file);
  take_if_unset(first.tls_key_file, second.tls_key_file);
  take_if_unset(first.behind_proxy, second.behind_proxy);
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
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  std::ifstream input(file, std::ios::binary);
  if (error || !input) {
    throw BadConfiguration("cannot read the configuration file " + file +
                           (error ? ": " + error.message() : "") + "; check the path");
  }
  if (bytes > kFileBytesMax) {
    throw BadConfiguration(file + " is larger than a configuration file may be (1 MiB)");
  }
  std::ostringstream text;
  text << input.rdbuf();
  return parse_serve_configuration(text.str(), file);
}

}  // namespace llmb::cli
