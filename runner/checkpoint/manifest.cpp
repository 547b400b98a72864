#include "runner/checkpoint/manifest.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "runner/checkpoint/durable_file.h"

namespace llmb::runner {
namespace {

using Json = nlohmann::json;
constexpr int kFormat = 1;

}  // namespace

void write_manifest(const std::filesystem::path& path, const Manifest& manifest) {
  Json json = {{"format", kFormat},
               {"completed_steps", manifest.completed_steps},
               {"update_count", manifest.update_count},
               {"element_type", manifest.element_type},
               {"description", manifest.description},
               {"shards", Json::array()}};
  for (const ManifestShard& shard : manifest.shards) {
    json["shards"].push_back({{"file", shard.file}, {"bytes", shard.bytes}});
  }
  const std::string text = json.dump(2) + "\n";
  write_durably(path, {std::as_bytes(std::span(text))});
}

Manifest read_manifest(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) throw CheckpointError("could not read the checkpoint's " + path.string());
  try {
    const Json json = Json::parse(stream);
    if (json.at("format").get<int>() != kFormat) {
      throw CheckpointError(path.string() + " is of format " + json.at("format").dump() +
                            ", and this program reads format " + std::to_string(kFormat));
    }
    Manifest manifest;
    json.at("completed_steps").get_to(manifest.completed_steps);
    json.at("update_count").get_to(manifest.update_count);
    json.at("element_type").get_to(manifest.element_type);
    json.at("description").get_to(manifest.description);
    for (const Json& shard : json.at("shards")) {
      manifest.shards.push_back({shard.at("file"), shard.at("bytes")});
    }
    return manifest;
  } catch (const Json::exception& wrong) {
    throw CheckpointError("the checkpoint's " + path.string() + " is damaged: " + wrong.what());
  }
}

}  // namespace llmb::runner
