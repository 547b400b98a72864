// Checkpoints of a training run: one shard file a rank and a manifest, in a directory that gets
// its name when all of it is on the disk; `latest` names the one to go on from. A crash at any
// moment of a save leaves the checkpoint that was there before. Any layout loads any layout's
// checkpoint. The ranks need a filesystem that all of them see, and one run saves to a path.
//
//   PATH/latest                      "iteration_0000050\n"
//   PATH/iteration_0000050/manifest.json
//   PATH/iteration_0000050/rank_00000.shard …
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/checkpoint/durable_file.h"
#include "runner/trainer/rank_trainer.h"

namespace llmb::runner {

struct SaveOptions {
  std::string description;         // of model and run, for whoever reads the manifest
  std::vector<std::string> flags;  // that make the same model and batch again
  // Called with the name of every moment between two writes: tests end the process there.
  std::function<void(std::string_view moment)> on_progress;
};

// Saves weights and optimizer states after `completed_steps` steps; all ranks call it together.
// Returns the checkpoint's directory. Throws CheckpointError.
template <typename Backend>
std::filesystem::path save_checkpoint(const std::filesystem::path& path,
                                      RankTrainer<Backend>& trainer, std::int64_t completed_steps,
                                      const SaveOptions& options = {});

// Loads what `path` (a directory of checkpoints, or one checkpoint) holds into the trainer; all
// ranks call it together. Rank 0 chooses which is the newest. Returns the completed steps: the next
// one to train. Throws CheckpointError where a file is missing or damaged, or the model is another.
template <typename Backend>
std::int64_t load_checkpoint(const std::filesystem::path& path, RankTrainer<Backend>& trainer);

}  // namespace llmb::runner
