#include "server/backfill/manifest.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "server/ingest/tree_parts.h"
#include "server/push/json_fields.h"

namespace llmb::backfill {
namespace {

using push::Json;
using push::JsonFields;

Json part_json(const Part& part) {
  return {{"root", part.root},
          {"folder", push::text_json(part.folder)},
          {"whole", part.is_whole},
          {"bytes", part.measure.bytes},
          {"logs", part.measure.logs}};
}

// Nothing of it leads out of the root, or names a folder in a second way.
bool is_plain_relative_path(std::string_view path) {
  if (path.empty()) return true;
  if (path.find('\0') != std::string_view::npos) return false;
  for (;;) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == "..") return false;
    if (name.size() == path.size()) return true;
    path.remove_prefix(name.size() + 1);
  }
}

Part read_part(const Json& json, std::size_t root_count) {
  const JsonFields fields(json, "parts");
  Part part;
  fields.read("root", part.root);
  fields.read("folder", part.folder);
  fields.read("whole", part.is_whole);
  fields.read("bytes", part.measure.bytes);
  fields.read("logs", part.measure.logs);
  if (part.root < 0 || part.root >= static_cast<std::int64_t>(root_count)) {
    storage::refuse_field("root", "one of the roots");
  }
  if (!is_plain_relative_path(part.folder))
    storage::refuse_field("folder", "a folder below the root");
  return part;
}

std::string read_path(const JsonFields& fields, const char* name, bool may_be_empty) {
  std::string path;
  fields.read(name, path);
  const bool is_left_out = path.empty() && may_be_empty;
  if (!is_left_out && !path.starts_with('/')) storage::refuse_field(name, "an absolute path");
  return path;
}

void read_fields(const Json& json, Manifest& manifest) {
  const JsonFields fields(json, "the manifest");
  fields.read("id", manifest.id);
  fields.read("server", manifest.server);
  fields.read("cluster", manifest.cluster);
  manifest.token_file = read_path(fields, "token_file", false);
  manifest.ca_file = read_path(fields, "ca_file", true);
  manifest.catalog_file = read_path(fields, "catalog_file", true);
  manifest.database_folder = read_path(fields, "database_folder", false);
  fields.read("allow_network_file_system", manifest.allow_network_file_system);
  fields.read("push_logs", manifest.sends_text);
  fields.read_if_there("skip_unreadable", manifest.skips_unreadable);
  for (const Json& root : fields.array("roots")) {
    manifest.roots.push_back(push::read_text(root, "roots"));
    if (!manifest.roots.back().starts_with('/')) storage::refuse_field("roots", "absolute paths");
  }
  for (const Json& task : fields.array("tasks")) {
    Share& share = manifest.tasks.emplace_back();
    for (const Json& part : JsonFields(task, "tasks").array("parts")) {
      share.parts.push_back(read_part(part, manifest.roots.size()));
      share.measure.add(share.parts.back().measure);
    }
    if (share.parts.empty()) storage::refuse_field("parts", "one at least");
  }
}

ingest::TreeParts parts_of_root(const std::vector<Share>& shares, std::int64_t root) {
  std::vector<std::string> folders;
  std::vector<std::string> files_of;
  for (const Share& share : shares) {
    for (const Part& part : share.parts) {
      if (part.root == root) (part.is_whole ? folders : files_of).push_back(part.folder);
    }
  }
  return {folders, files_of};
}

void refuse_what_is_there_twice(const Manifest& manifest) {
  std::vector<ingest::TreeParts> roots;
  roots.reserve(manifest.roots.size());
  for (std::size_t i = 0; i < manifest.roots.size(); ++i) {
    roots.push_back(parts_of_root(manifest.tasks, static_cast<std::int64_t>(i)));
  }
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const Share& share : manifest.tasks) {
    for (const Part& part : share.parts) {
      const ingest::TreeParts& root = roots[static_cast<std::size_t>(part.root)];
      const bool lies_in_another = !part.folder.empty() && root.descend_to(part.folder);
      if (lies_in_another || !seen.emplace(part.root, part.folder).second) {
        storage::refuse_field("folder", "in one place only");
      }
    }
  }
}

}  // namespace

Measure Manifest::measure() const {
  Measure all;
  for (const Share& task : tasks) all.add(task.measure);
  return all;
}

std::string manifest_text(const Manifest& manifest) {
  Json roots = Json::array();
  for (const std::string& root : manifest.roots) roots.push_back(push::text_json(root));
  Json tasks = Json::array();
  for (const Share& task : manifest.tasks) {
    Json parts = Json::array();
    for (const Part& part : task.parts) parts.push_back(part_json(part));
    tasks.push_back({{"parts", std::move(parts)}});
  }
  const Json json = {{"format", kManifestFormat},
                     {"id", manifest.id},
                     {"server", push::text_json(manifest.server)},
                     {"cluster", manifest.cluster},
                     {"token_file", push::text_json(manifest.token_file)},
                     {"ca_file", push::text_json(manifest.ca_file)},
                     {"catalog_file", push::text_json(manifest.catalog_file)},
                     {"database_folder", push::text_json(manifest.database_folder)},
                     {"allow_network_file_system", manifest.allow_network_file_system},
                     {"push_logs", manifest.sends_text},
                     {"skip_unreadable", manifest.skips_unreadable},
                     {"roots", std::move(roots)},
                     {"tasks", std::move(tasks)}};
  return json.dump(1) + '\n';
}

parser::Result<Manifest> read_manifest(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    std::int64_t format = 0;
    JsonFields(json, "the manifest").read("format", format);
    if (format != kManifestFormat) {
      return parser::fail(fmt::format(
          "it is of the format {}, and this program reads {}: go on with the program that made it",
          format, kManifestFormat));
    }
    Manifest manifest;
    read_fields(json, manifest);
    refuse_what_is_there_twice(manifest);
    return manifest;
  } catch (const std::exception& error) {
    return parser::fail(error.what());
  }
}

std::vector<ingest::RootOptions> roots_of_task(const Manifest& manifest, std::int64_t task) {
  const Share& share = manifest.tasks.at(static_cast<std::size_t>(task - 1));
  std::set<std::int64_t> named;
  for (const Part& part : share.parts) named.insert(part.root);
  std::vector<ingest::RootOptions> roots;
  roots.reserve(named.size());
  for (const std::int64_t root : named) {
    roots.push_back({.path = manifest.roots[static_cast<std::size_t>(root)],
                     .cluster = manifest.cluster,
                     .parts = parts_of_root({share}, root)});
  }
  return roots;
}

}  // namespace llmb::backfill
