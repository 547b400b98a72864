#include "parser/catalog/model_overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "parser/layout/overridden_figure.h"

namespace llmb::parser {
namespace {

// What changes nothing of the work of a step: no table of recipes states it.
constexpr std::array<std::string_view, 60> kOfNoRow = {
    // How long a run trains, from which seed
    "steps",
    "max_steps",
    "num_steps",
    "train_steps",
    "num_train_steps",
    "train_iters",
    "max_iters",
    "num_iterations",
    "train_samples",
    "max_epochs",
    "exit_interval",
    "seed",
    "random_seed",
    "data_seed",
    // What follows from the GPUs and the other parallel sizes
    "dp",
    "data_parallel_size",
    // Logging
    "log_interval",
    "log_every_n_steps",
    "log_freq",
    "log_frequency",
    "log_level",
    "log_dir",
    "log_throughput",
    "logging_level",
    "logging_steps",
    "logging_interval",
    "logger_dir",
    "tensorboard_dir",
    "tensorboard_log_interval",
    "enable_tensorboard",
    "wandb_project",
    "wandb_project_name",
    "wandb_entity",
    "wandb_entity_name",
    "wandb_exp_name",
    "wandb_run_name",
    "wandb_name",
    "wandb_group",
    "wandb_save_dir",
    // Saving; a save inside the window is told as an interruption
    "save",
    "save_dir",
    "save_interval",
    "save_steps",
    "save_every_n_steps",
    "save_top_k",
    "save_last",
    "checkpoint_dir",
    "checkpoint_interval",
    "checkpoint_every_n_steps",
    // The same operations in fewer calls; llmb-config says it as `cuda_graphs`, too
    "cuda_graphs",
    // The log of llmb-step-runner tells it, and the match what it makes of the published speed
    "recompute_layers",
    // Names
    "exp_name",
    "experiment_name",
    "run_name",
    "job_name",
    // Where the tokenizer lies
    "tokenizer_path",
    "tokenizer_model",
    "tokenizer_model_path",
    "tokenizer_name_or_path",
    "hf_tokenizer_path",
};

}  // namespace

std::string overrides_of_no_figure(const RunConfiguration& configuration) {
  std::string text;
  const auto& all = configuration.all();
  for (auto entry = all.lower_bound(kModelOverrides);
       entry != all.end() && entry->first.starts_with(kModelOverrides); ++entry) {
    const std::string name = name_of_override(entry->first);
    if (std::find(kOfNoRow.begin(), kOfNoRow.end(), name) != kOfNoRow.end()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, entry->second.front().value);
  }
  return text;
}

}  // namespace llmb::parser
