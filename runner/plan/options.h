// Options: what the command line and the recipes' environment variables ask for, as they stand;
// run_settings.h makes a model, a layout and a batch of them. Flags outrank variables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/model_flops.h"
#include "runner/model/expert_counts.h"
#include "runner/model/spec.h"

namespace llmb::runner {

enum class Backend { cpu, cuda };
// Those that this program was built with, the one it prefers last. Each program's main adds what it
// is linked with beside the CPU's, before it reads any option.
const std::vector<Backend>& built_backends();
void add_built_backend(Backend backend);
std::string_view backend_name(Backend backend);

enum class LogFormat { nemo, megatron_bridge };

// How the program ends.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;  // unknown or contradictory options, or a device is not there
inline constexpr int kExitDoesNotFit = 3;     // the plan needs more memory than a rank has
inline constexpr int kExitCommunication = 4;  // ranks lost each other
inline constexpr int kExitNan = 5;            // the loss or a gradient is not a number

// How a line begins that refuses options, the environment or the layout that they make: a log's
// reader tells it by these words from all else that the program says.
inline constexpr std::string_view kRefused = "llmb-step-runner: refused: ";

struct Options {
  std::string workload;  // "pretrain_grok1"
  std::string document;  // "grok1-24.11": only its rows; empty: those of every document
  // Empty where nobody gave one: recipe_choice.h takes the documents' defaults.
  std::string model_size;  // "314b"
  std::string dtype;
  std::string gpu_type;
  std::optional<int> scale;  // GPUs: ranks of the whole run

  ShapeOverrides shape;
  std::optional<int> tp, cp, dp, pp, vp, ep, etp;
  std::optional<std::int64_t> micro_batch_size;
  std::optional<std::int64_t> global_batch_size;
  std::optional<bool> fully_sharded;
  std::optional<std::int64_t> recompute_layers;
  std::optional<std::int64_t> offload_layers;
  std::optional<std::int64_t> head_chunk_rows;
  // Where experts are shared out over ranks: by how much a rank may get more rows than its share.
  double expert_imbalance = 1;

  std::optional<Backend> backend;    // none: the best that the build has
  std::optional<int> virtual_ranks;  // ranks as threads of this process
  std::optional<int> rank_slice;     // this rank of the layout alone, without the others
  // CUDA: how long the algorithms of matrix products are timed before the first step (0: not at
  // all), and the file that keeps the choice (empty: none).
  double tune_seconds = 20;
  std::string product_plans_path = "product_plans.json";
  // CUDA, where all experts are on a rank: whether the host asks how many rows each expert gets.
  std::optional<ExpertCounts> expert_counts;  // none: by how many these are on average
  bool wants_graphs = false;                  // CUDA: passes are captured and launched as graphs
  int launched_ranks = 1;  // processes that a launcher started, this one included; no flag
  std::optional<LogFormat> log_format;  // none: that of the workload's recipe
  parser::FlopsFormula flops_formula = parser::FlopsFormula::megatron;
  bool dry_run = false;
  bool measures_ceilings = false;  // the command `ceilings`
  double ceiling_seconds = 2;      // of each measurement
  std::optional<int> step_count;   // none: the recipe's: 50, one after a load, 25 …
  std::uint64_t seed = 1234;
  double learning_rate = 3e-4;

  bool enable_profile = false;
  std::optional<int> profile_start_step;  // none: the recipe's
  std::optional<int> profile_stop_step;   // profiling ends before this step
  bool enable_nccl_trace = false;
  bool enable_checkpoint = false;
  std::string checkpoint_path = "checkpoints";  // where to save
  std::string load_checkpoint_path;             // empty: begin anew
  std::string phases_path;                      // JSON lines beside the log; empty: none
  // Recipe variables that are set and mean nothing to this program.
  std::vector<std::string> variables_without_effect;
};

using Environment = std::map<std::string, std::string, std::less<>>;
// The process's variables that options_from_environment knows.
Environment process_environment();
// Those that have an effect as flags, "--scale=512". An empty variable counts as not set, and of
// two with one meaning the later in the result counts.
std::vector<std::string> flags_from_environment(const Environment& environment);

std::vector<std::string> variables_without_effect(const Environment& environment);

struct ParsedOptions {
  Options options;
  // Set where the program has nothing more to do: help or version were asked for, or the command
  // line is wrong. `text` belongs on stdout for kExitOk, on stderr otherwise.
  std::optional<int> exit_code;
  std::string text;
};

// `arguments` without the program's name. Variables outrank `saved_flags`, those that a checkpoint
// keeps.
ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment,
                            const std::vector<std::string>& saved_flags = {});

}  // namespace llmb::runner
