// RunSettings: options and the recipe's row made into what a run is: model, layout, batch, steps.
// Refused in words, with what would fit; whatever was decided for the user is a note.
#pragma once

#include <string>
#include <vector>

#include "runner/model/precision.h"
#include "runner/parallel/layout.h"
#include "runner/plan/options.h"

namespace llmb::runner {

struct RunSettings {
  std::string workload;  // the catalog's name
  std::string gpu_type;
  ModelSpec spec;
  ModelShape published_shape;
  ParallelSizes sizes;
  BatchSizes batch;
  // The published row that the defaults come from; null: none has this GPU, precision and scale.
  // Lives as long as the catalog.
  const parser::Recipe* recipe = nullptr;
  std::int64_t recompute_layers = 0;
  bool may_recompute_more = true;  // the options do not say how many: see memory_choice.h
  std::int64_t offload_layers = 0;
  std::int64_t head_chunk_rows = 0;  // of logits at once; 0: as runner/model/head_chunk.h chooses
  double expert_imbalance = 1;       // Options
  Precision precision = Precision::bf16;
  bool fully_sharded = false;
  // Copies of the weights in FP8 stay for a whole step: who plans a run decides (fp8_weights.h).
  bool keeps_fp8_weights = false;
  bool wants_graphs = false;  // where pass_graphs.h says that there can be any
  ExpertCounts expert_counts = ExpertCounts::on_device;
  // CUDA: what the device's attention asks for beside its operands, in any layer; none: not asked
  // yet, and counted as cuDNN's graphs need it.
  std::optional<std::int64_t> attention_workspace_bytes;

  Backend backend = Backend::cpu;
  LogFormat log_format = LogFormat::nemo;
  parser::FlopsFormula flops_formula = parser::FlopsFormula::megatron;
  std::optional<parser::FlopsFormula>
      documented_formula;         // of the row's document, where it has one
  int launched_ranks = 1;         // above 1: ranks are processes, not threads
  std::optional<int> rank_slice;  // only this rank runs, its collectives local copies
  int step_count = 50;
  int profile_start_step = 0;
  int profile_stop_step = 0;

  // Sentences: where the row contradicts itself and what was made of it, what was defaulted.
  std::vector<std::string> notes;

  // As StageContext has it: nowhere in a pass the host waits for how many rows each expert gets.
  bool counts_experts_on_device() const {
    return sizes.ep == 1 && expert_counts == ExpertCounts::on_device &&
           !(precision == Precision::mxfp8 && backend == Backend::cuda);
  }
  int world_size() const { return sizes.world(); }
  std::int64_t micro_batches() const { return micro_batch_count(batch, sizes); }
};

// Why none can be, in words; empty where they can: with which the answer may change, as experts'
// products are chosen later.
std::string why_no_graphs(const RunSettings& settings);

Result<RunSettings> make_run_settings(const Options& options, const parser::Catalog& catalog);

// The flags that make the same model and batch again, whatever the layout: a checkpoint keeps them.
std::vector<std::string> model_flags(const RunSettings& settings);

// The layout that a row states, at one of its scales, with what is contradictory in it resolved
// and told in `notes`; but for what `options` give otherwise, which count instead.
ParallelSizes recipe_sizes(const parser::Recipe& recipe, const parser::Document* document,
                           int scale, const Options& options, std::vector<std::string>& notes);

}  // namespace llmb::runner
