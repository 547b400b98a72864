// The definitions of rank_trainer.h: included where a backend is put together, once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>

#include "runner/trainer/rank_trainer.h"

namespace llmb::runner {
namespace detail {

// Adds the time between its making and its end to one phase.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds)
      : seconds_(seconds), begun_(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begun_;
};

inline PipelineShape pipeline_shape(const ParallelSizes& sizes, const BatchSizes& batch) {
  const std::int64_t a_micro_step = batch.micro_batch_size * sizes.dp;
  if (a_micro_step < 1 || batch.global_batch_size < 1 ||
      batch.global_batch_size % a_micro_step != 0) {
    throw std::invalid_argument(
        fmt::format("a global batch of {} is no multiple of micro-batch size x dp = {}",
                    batch.global_batch_size, a_micro_step));
  }
  return {sizes.pp, sizes.vp, static_cast<int>(batch.global_batch_size / a_micro_step)};
}

}  // namespace detail

template <typename Backend>
RankTrainer<Backend>::RankTrainer(typename Backend::Ops& ops, World& world, const ModelSpec& spec,
                                  const Layout& layout, const TrainerSettings& settings,
                                  const StageFactory<Backend>& make_stage)
    : ops_(ops),
      spec_(spec),
      layout_(layout),
      place_(layout.place_of(world.rank())),
      settings_(settings),
      groups_(make_rank_groups(world, layout)),
      store_(ops, spec, layout, world.rank(), settings.sharding),
      optimizer_(ops, store_, groups_, settings.optimizer),
      tasks_(make_task_list(detail::pipeline_shape(layout.sizes(), settings.batch), place_.pp)),
      data_(settings.seed, spec.shape.vocabulary_size) {
  optimizer_.draw_weights(spec, settings.seed);
  for (int chunk = 0; chunk < layout.sizes().vp; ++chunk) {
    stages_.push_back(make_stage(chunk, store_, groups_));
  }
  messages_.emplace(ops_, *groups_.pipeline, detail::pipeline_shape(layout.sizes(), settings.batch),
                    tasks_, [this](int chunk) { return boundary_elements(chunk); });
}

template <typename Backend>
bool RankTrainer<Backend>::is_first_part(int chunk) const {
  return chunk == 0 && place_.pp == 0;
}

template <typename Backend>
bool RankTrainer<Backend>::is_last_part(int chunk) const {
  return chunk == layout_.sizes().vp - 1 && place_.pp == layout_.sizes().pp - 1;
}

// Micro-batch m of replica d holds the samples after (m * dp + d) * micro_batch_size: however many
// replicas share the batch, the same samples are together in a micro-batch.
template <typename Backend>
const TokenBatch& RankTrainer<Backend>::tokens_of(int micro_batch, std::int64_t step,
                                                  StepResult& result) {
  const auto known = batches_.find(micro_batch);
  if (known != batches_.end()) return known->second;
  const detail::PhaseTimer timer(result.phases.data_s);
  const std::int64_t size = settings_.batch.micro_batch_size;
  const std::int64_t first =
      (static_cast<std::int64_t>(micro_batch) * layout_.sizes().dp + place_.dp) * size;
  return batches_.emplace(micro_batch, data_.batch(step, first, size, spec_.shape.sequence_length))
      .first->second;
}

template <typename Backend>
void RankTrainer<Backend>::forward(const Task& task, std::int64_t step, StepResult& result,
                                   const Message& input, Message& output) {
  const TokenBatch& batch = tokens_of(task.micro_batch, step, result);
  const detail::PhaseTimer timer(result.phases.forward_s);
  output = messages_->take(is_last_part(task.chunk) ? 0 : boundary_elements(task.chunk));
  const double loss_scale =
      1.0 / static_cast<double>(settings_.batch.global_batch_size * spec_.shape.sequence_length);
  stage(task.chunk).forward(task.micro_batch, batch, loss_scale, input.values(), output.values());
  kept_bytes_max_ = std::max(kept_bytes_max_, ops_.memory_meter().bytes);
  if (task.chunk == layout_.sizes().vp - 1) batches_.erase(task.micro_batch);
}

template <typename Backend>
void RankTrainer<Backend>::backward(const Task& task, const Message& output_gradient,
                                    Message& input_gradient) {
  input_gradient = messages_->take(is_first_part(task.chunk) ? 0 : boundary_elements(task.chunk));
  stage(task.chunk).backward(task.micro_batch, output_gradient.values(), input_gradient.values());
}

// A task of the list that is a message has none of its own: it goes with the passes beside it.
template <typename Backend>
void RankTrainer<Backend>::execute(const Task& task, std::int64_t step, StepResult& result) {
  const bool is_forward = task.kind == TaskKind::forward;
  if (!is_forward && task.kind != TaskKind::backward) return;
  const Direction direction = is_forward ? Direction::activations : Direction::gradients;
  Message output;
  {
    Message input = [&] {
      const detail::PhaseTimer timer(result.phases.pipeline_s);
      return messages_->input_of(direction, task);
    }();
    if (is_forward) {
      forward(task, step, result, input, output);
    } else {
      const detail::PhaseTimer timer(result.phases.backward_s);
      backward(task, input, output);
    }
    messages_->give_back(std::move(input));
  }
  const detail::PhaseTimer timer(result.phases.pipeline_s);
  messages_->passed(direction, task, std::move(output));
}

template <typename Backend>
void RankTrainer<Backend>::reduce_losses(StepResult& result) {
  std::vector<double> sums = {0, 0};
  for (const auto& chunk : stages_) {
    const StageLoss losses = chunk->take_losses();
    // Every rank of a tensor group took the same loss: one of them counts.
    if (place_.tp == 0) sums[0] += losses.loss_sum;
    sums[1] += losses.auxiliary_loss;
  }
  groups_.host().all_reduce(sums, ReduceOp::sum, "trainer.losses");
  const auto tokens = static_cast<double>(result.token_count);
  const std::int64_t micro_batches =
      settings_.batch.global_batch_size / settings_.batch.micro_batch_size;
  result.loss = sums[0] / tokens;
  result.auxiliary_loss = sums[1] / static_cast<double>(micro_batches);
}

// A call that one rank has in a graph and another one has not is never made by either, so they
// agree before there is any; between steps, where all of them come by.
template <typename Backend>
void RankTrainer<Backend>::prepare_graphs() {
  if constexpr (requires { ops_.are_graphs_due(); }) {
    if (!ops_.are_graphs_due()) return;
    const bool are_there = ops_.prepare_graphs([this] {
      for (const auto& chunk : stages_) chunk->prepare_passes();
    });
    std::vector<double> refused = {are_there ? 0.0 : 1.0};
    groups_.host().all_reduce(refused, ReduceOp::sum, "trainer.graphs");
    if (refused[0] == 0) return;
    for (const auto& chunk : stages_) chunk->forget_passes();
    ops_.give_up_graphs(static_cast<int>(refused[0]));
  }
}

template <typename Backend>
StepResult RankTrainer<Backend>::run_passes(std::int64_t step) {
  StepResult result;
  result.step = step;
  result.token_count = settings_.batch.global_batch_size * spec_.shape.sequence_length;
  const detail::PhaseTimer timer(result.phases.total_s);
  prepare_graphs();
  store_.zero_gradients();
  messages_->begin_step();
  for (const Task& task : tasks_) execute(task, step, result);
  messages_->end_step();
  return result;
}

template <typename Backend>
StepResult RankTrainer<Backend>::accumulate_gradients(std::int64_t step) {
  StepResult result = run_passes(step);
  reduce_losses(result);
  return result;
}

template <typename Backend>
StepResult RankTrainer<Backend>::step(std::int64_t step, double learning_rate) {
  StepResult result = run_passes(step);
  double optimizer_s = 0;
  {
    const detail::PhaseTimer timer(optimizer_s);
    const OptimizerStep update = optimizer_.step(learning_rate);
    result.gradient_norm = update.gradient_norm;
    result.is_updated = update.is_updated;
    for (const auto& chunk : stages_) chunk->end_step();
  }
  reduce_losses(result);  // read with the norm, once nothing more is to be put on the device
  result.phases.optimizer_s = optimizer_s;
  result.phases.total_s += optimizer_s;
  return result;
}

template <typename Backend>
std::vector<NamedHistory> RankTrainer<Backend>::scaling_histories() {
  std::vector<NamedHistory> all;
  for (const auto& chunk : stages_) {
    std::vector<NamedHistory> its = chunk->scaling_histories();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

template <typename Backend>
MemoryUse RankTrainer<Backend>::memory_use() const {
  MemoryUse use;
  use.parameters = store_.weight_bytes();
  use.gradients = store_.gradient_bytes();
  use.optimizer = optimizer_.state_bytes();
  use.activations_max = kept_bytes_max_;
  use.tensors_max = ops_.memory_meter().bytes_max;
  for (const auto& chunk : stages_) {
    use.expert_rows_max = std::max(use.expert_rows_max, chunk->expert_rows_max());
  }
  return use;
}

}  // namespace llmb::runner
