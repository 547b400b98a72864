// Manifest: what a checkpoint consists of, in JSON: written last, so that a directory that has one
// has everything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace llmb::runner {

struct ManifestShard {
  std::string file;
  std::uint64_t bytes = 0;
};

struct Manifest {
  std::int64_t completed_steps = 0;
  std::int64_t update_count = 0;  // less than the steps where some were skipped
  std::string element_type;       // "float32"
  std::string description;
  std::vector<std::string> flags;  // of the program, for a run that goes on
  std::vector<ManifestShard> shards;
};

// All throw CheckpointError, which names the file.
void write_manifest(const std::filesystem::path& path, const Manifest& manifest);
std::string read_manifest_text(const std::filesystem::path& path);
Manifest parse_manifest(const std::filesystem::path& path, const std::string& text);

// Where `path` says its newest checkpoint is; a checkpoint's own directory says itself. Throws
// CheckpointError where there is none, or one of NeMo's.
std::filesystem::path newest_checkpoint(const std::filesystem::path& path);

// The flags that describe the model and batch of the run that saved what is there; none where it
// kept none. Throws CheckpointError.
std::vector<std::string> checkpoint_flags(const std::filesystem::path& path);

}  // namespace llmb::runner
