// RankTrainer: everything one rank needs for training, and its steps: it executes the rank's
// schedule over its stages, passes activations and gradients along the pipeline, and lets the
// optimizer sum gradients and move weights.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runner/model/parameter_store.h"
#include "runner/model/pipeline_stage.h"
#include "runner/optimizer/distributed_optimizer.h"
#include "runner/parallel/rank_groups.h"
#include "runner/schedule/task_list.h"
#include "runner/trainer/memory_use.h"
#include "runner/trainer/pipeline_messages.h"

namespace llmb::runner {

// Seconds of this rank's wall clock; on a device, of putting work on its streams, but where the
// host waits. They add up to total_s but for what is too small to name.
struct PhaseTimes {
  double data_s = 0;       // drawing tokens
  double forward_s = 0;    // tensor, context and expert communication included; so is the head's
                           // way back
  double backward_s = 0;   // likewise, of all else
  double pipeline_s = 0;   // sending to and waiting for other stages
  double optimizer_s = 0;  // summing gradients, clipping, updating, gathering weights
  double total_s = 0;
};

struct StepResult {
  std::int64_t step = 0;         // from 0
  double loss = 0;               // mean over the tokens of the global batch; the same on every rank
  double auxiliary_loss = 0;     // of all routers, likewise; part of what is minimised, not of loss
  double gradient_norm = 0;      // before clipping
  bool is_updated = false;       // false where the norm is no number
  std::int64_t token_count = 0;  // of the global batch
  PhaseTimes phases;
};

struct TrainerSettings {
  BatchSizes batch;
  std::uint64_t seed = 1234;
  OptimizerSettings optimizer;
  ParameterSharding sharding = ParameterSharding::none;
};

// Makes chunk `chunk` of the rank's pipeline stage.
template <typename Backend>
using StageFactory = std::function<std::unique_ptr<PipelineStage<Backend>>(
    int chunk, ParameterStore<Backend>& store, RankGroups& groups)>;

// Used by the rank's thread; `ops` and `world` outlive it. All ranks make theirs and step together.
template <typename Backend>
class RankTrainer {
 public:
  // Weights are drawn from the seed; a checkpoint may replace them afterwards. Throws
  // std::invalid_argument where the batch does not divide over the layout.
  RankTrainer(typename Backend::Ops& ops, World& world, const ModelSpec& spec, const Layout& layout,
              const TrainerSettings& settings, const StageFactory<Backend>& make_stage);

  // Forward, loss, backward, gradient reduction and update of one global batch.
  StepResult step(std::int64_t step, double learning_rate);

  // Only the first half: gradients stay in store(), this rank's part of the sum.
  StepResult accumulate_gradients(std::int64_t step);

  int rank() const { return groups_.world->rank(); }
  const Layout& layout() const { return layout_; }
  RankGroups& groups() { return groups_; }
  ParameterStore<Backend>& store() { return store_; }
  typename Backend::Ops& ops() { return ops_; }
  DistributedOptimizer<Backend>& optimizer() { return optimizer_; }
  // Of all chunks; see PipelineStage.
  std::vector<NamedHistory> scaling_histories();
  // Since the trainer was made; tensors are counted by thread, so that of this rank's.
  MemoryUse memory_use() const;

 private:
  using Message = typename PipelineMessages<Backend>::Message;

  void execute(const Task& task, std::int64_t step, StepResult& result);
  void forward(const Task& task, std::int64_t step, StepResult& result, const Message& input,
               Message& output);
  void backward(const Task& task, const Message& output_gradient, Message& input_gradient);
  StepResult run_passes(std::int64_t step);
  // Where the step's passes are to be graphs for the first time: all ranks have theirs, or none.
  void prepare_graphs();
  void reduce_losses(StepResult& result);
  PipelineStage<Backend>& stage(int chunk) { return *stages_[static_cast<std::size_t>(chunk)]; }
  std::int64_t boundary_elements(int chunk) {
    return static_cast<std::int64_t>(stage(chunk).boundary_elements());
  }
  bool is_first_part(int chunk) const;
  bool is_last_part(int chunk) const;
  // Of a micro-batch, while one of its forwards on this rank is still to come.
  const TokenBatch& tokens_of(int micro_batch, std::int64_t step, StepResult& result);

  typename Backend::Ops& ops_;
  ModelSpec spec_;
  Layout layout_;
  RankPlace place_;
  TrainerSettings settings_;
  RankGroups groups_;
  ParameterStore<Backend> store_;
  DistributedOptimizer<Backend> optimizer_;
  std::vector<std::unique_ptr<PipelineStage<Backend>>> stages_;  // by chunk
  std::vector<Task> tasks_;
  std::optional<PipelineMessages<Backend>> messages_;  // once the stages are there
  SyntheticTokens data_;

  std::int64_t kept_bytes_max_ = 0;  // of tensors, between passes

  // Of the step in progress.
  std::map<int, TokenBatch> batches_;
};

}  // namespace llmb::runner
