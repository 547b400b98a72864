#include "runner/checkpoint/manifest.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "runner/checkpoint/durable_file.h"

namespace llmb::runner {
namespace {

using Json = nlohmann::json;
constexpr int kFormat = 1;

// The documents' "parent folder of the weights directory containing distributed checkpoint files
// with extension *.distcp", or that directory.
bool is_nemo_checkpoint(const std::filesystem::path& path) {
  std::error_code error;
  for (const std::filesystem::path& folder : {path / "weights", path}) {
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (entry->path().extension() == ".distcp") return true;
    }
  }
  return false;
}

}  // namespace

void write_manifest(const std::filesystem::path& path, const Manifest& manifest) {
  Json json = {{"format", kFormat},
               {"completed_steps", manifest.completed_steps},
               {"update_count", manifest.update_count},
               {"element_type", manifest.element_type},
               {"description", manifest.description},
               {"flags", manifest.flags},
               {"shards", Json::array()}};
  for (const ManifestShard& shard : manifest.shards) {
    json["shards"].push_back({{"file", shard.file}, {"bytes", shard.bytes}});
  }
  const std::string text = json.dump(2) + "\n";
  write_durably(path, {std::as_bytes(std::span(text))});
}

std::string read_manifest_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw CheckpointError("could not read the checkpoint's " + path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

Manifest parse_manifest(const std::filesystem::path& path, const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat) {
      throw CheckpointError(fmt::format("{} is of format {}, and this program reads format {}",
                                        path.string(), json.at("format").dump(), kFormat));
    }
    Manifest manifest;
    json.at("completed_steps").get_to(manifest.completed_steps);
    json.at("update_count").get_to(manifest.update_count);
    json.at("element_type").get_to(manifest.element_type);
    json.at("description").get_to(manifest.description);
    // Older checkpoints have none.
    if (json.contains("flags")) json.at("flags").get_to(manifest.flags);
    for (const Json& shard : json.at("shards")) {
      manifest.shards.push_back({shard.at("file"), shard.at("bytes")});
    }
    return manifest;
  } catch (const Json::exception& wrong) {
    throw CheckpointError("the checkpoint's " + path.string() + " is damaged: " + wrong.what());
  }
}

std::filesystem::path newest_checkpoint(const std::filesystem::path& path) {
  if (std::filesystem::exists(path / "manifest.json")) return path;
  if (is_nemo_checkpoint(path)) {
    throw CheckpointError(path.string() +
                          " is a NeMo distributed checkpoint (*.distcp), which this program does "
                          "not read: load it with the installed recipe (llmb-report submit "
                          "--launcher recipe), or save one with --checkpoint here and load that");
  }
  std::ifstream stream(path / "latest");
  std::string name;
  if (!std::getline(stream, name) || name.empty() || name.find('/') != std::string::npos) {
    throw CheckpointError("no checkpoint in " + path.string() +
                          ": it has neither a file \"latest\" nor a manifest.json");
  }
  return path / name;
}

std::vector<std::string> checkpoint_flags(const std::filesystem::path& path) {
  const std::filesystem::path file = newest_checkpoint(path) / "manifest.json";
  return parse_manifest(file, read_manifest_text(file)).flags;
}

}  // namespace llmb::runner
