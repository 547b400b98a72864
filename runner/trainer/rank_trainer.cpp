#include "runner/trainer/rank_trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>

#include "runner/cpu/memory_meter.h"

namespace llmb::runner {
namespace {

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

double& phase_of(TaskKind kind, PhaseTimes& phases) {
  if (kind == TaskKind::forward) return phases.forward_s;
  return kind == TaskKind::backward ? phases.backward_s : phases.pipeline_s;
}

PipelineShape pipeline_shape(const ParallelSizes& sizes, const BatchSizes& batch) {
  const std::int64_t a_micro_step = batch.micro_batch_size * sizes.dp;
  if (a_micro_step < 1 || batch.global_batch_size < 1 ||
      batch.global_batch_size % a_micro_step != 0) {
    throw std::invalid_argument(
        "a global batch of " + std::to_string(batch.global_batch_size) +
        " is no multiple of micro-batch size x dp = " + std::to_string(a_micro_step));
  }
  return {sizes.pp, sizes.vp, static_cast<int>(batch.global_batch_size / a_micro_step)};
}

// The optimizer copies its share of the weights when it is made.
template <typename T>
ParameterStore<T>& initialized(ParameterStore<T>& store, const ModelSpec& spec,
                               std::uint64_t seed) {
  store.initialize(spec, seed);
  return store;
}

}  // namespace

template <typename T>
RankTrainer<T>::RankTrainer(World& world, const ModelSpec& spec, const Layout& layout,
                            const TrainerSettings<T>& settings, const StageFactory<T>& make_stage)
    : spec_(spec),
      layout_(layout),
      place_(layout.place_of(world.rank())),
      settings_(settings),
      groups_(make_rank_groups(world, layout)),
      store_(spec, layout, world.rank(), settings.sharding),
      optimizer_(initialized(store_, spec, settings.seed), groups_, settings.optimizer),
      tasks_(make_task_list(pipeline_shape(layout.sizes(), settings.batch), place_.pp)),
      data_(settings.seed, spec.shape.vocabulary_size) {
  for (int chunk = 0; chunk < layout.sizes().vp; ++chunk) {
    stages_.push_back(make_stage(chunk, store_, groups_));
  }
}

template <typename T>
bool RankTrainer<T>::is_first_part(int chunk) const {
  return chunk == 0 && place_.pp == 0;
}

template <typename T>
bool RankTrainer<T>::is_last_part(int chunk) const {
  return chunk == layout_.sizes().vp - 1 && place_.pp == layout_.sizes().pp - 1;
}

// Micro-batch m of replica d holds the samples after (m * dp + d) * micro_batch_size: however many
// replicas share the batch, the same samples are together in a micro-batch.
template <typename T>
const TokenBatch& RankTrainer<T>::tokens_of(int micro_batch, std::int64_t step,
                                            StepResult& result) {
  const auto known = batches_.find(micro_batch);
  if (known != batches_.end()) return known->second;
  const PhaseTimer timer(result.phases.data_s);
  const std::int64_t size = settings_.batch.micro_batch_size;
  const std::int64_t first =
      (static_cast<std::int64_t>(micro_batch) * layout_.sizes().dp + place_.dp) * size;
  return batches_.emplace(micro_batch, data_.batch(step, first, size, spec_.shape.sequence_length))
      .first->second;
}

template <typename T>
void RankTrainer<T>::forward(const Task& task, std::int64_t step, StepResult& result) {
  const Pass pass{task.micro_batch, task.chunk};
  const TokenBatch& batch = tokens_of(task.micro_batch, step, result);
  const PhaseTimer timer(result.phases.forward_s);
  const std::vector<T> input = std::move(inputs_[pass]);
  inputs_.erase(pass);
  std::vector<T> output(is_last_part(task.chunk) ? 0 : stage(task.chunk).boundary_elements());
  stage(task.chunk).forward(task.micro_batch, batch, input, output);
  kept_bytes_max_ = std::max(kept_bytes_max_, cpu::memory_meter().bytes);
  if (!is_last_part(task.chunk)) outputs_[pass] = std::move(output);
  if (task.chunk == layout_.sizes().vp - 1) batches_.erase(task.micro_batch);
}

template <typename T>
void RankTrainer<T>::backward(const Task& task) {
  const Pass pass{task.micro_batch, task.chunk};
  const std::vector<T> output_gradient = std::move(output_gradients_[pass]);
  output_gradients_.erase(pass);
  std::vector<T> input_gradient(is_first_part(task.chunk) ? 0
                                                          : stage(task.chunk).boundary_elements());
  const double loss_scale =
      1.0 / static_cast<double>(settings_.batch.global_batch_size * spec_.shape.sequence_length);
  stage(task.chunk).backward(task.micro_batch, loss_scale, output_gradient, input_gradient);
  if (!is_first_part(task.chunk)) input_gradients_[pass] = std::move(input_gradient);
}

template <typename T>
void RankTrainer<T>::receive(const Task& task, std::map<Pass, std::vector<T>>& into, CallTag tag) {
  std::vector<T> message(stage(task.chunk).boundary_elements());
  groups_.pipeline->recv(message, task.peer, tag);
  into[{task.micro_batch, task.chunk}] = std::move(message);
}

template <typename T>
void RankTrainer<T>::send(const Task& task, std::map<Pass, std::vector<T>>& from, CallTag tag) {
  const auto message = from.find({task.micro_batch, task.chunk});
  groups_.pipeline->send(message->second, task.peer, tag);
  from.erase(message);
}

template <typename T>
void RankTrainer<T>::execute(const Task& task, std::int64_t step, StepResult& result) {
  if (task.kind == TaskKind::forward) return forward(task, step, result);
  const PhaseTimer timer(phase_of(task.kind, result.phases));
  switch (task.kind) {
    case TaskKind::forward:
      return;
    case TaskKind::backward:
      return backward(task);
    case TaskKind::receive_activation:
      return receive(task, inputs_, "pp.activation");
    case TaskKind::send_activation:
      return send(task, outputs_, "pp.activation");
    case TaskKind::receive_gradient:
      return receive(task, output_gradients_, "pp.gradient");
    case TaskKind::send_gradient:
      return send(task, input_gradients_, "pp.gradient");
  }
}

template <typename T>
void RankTrainer<T>::reduce_losses(StepResult& result) {
  std::vector<double> sums = {0, 0};
  for (const auto& chunk : stages_) {
    const StageLoss losses = chunk->take_losses();
    // Every rank of a tensor group took the same loss: one of them counts.
    if (place_.tp == 0) sums[0] += losses.loss_sum;
    sums[1] += losses.auxiliary_loss;
  }
  groups_.world->all_reduce(sums, ReduceOp::sum, "trainer.losses");
  const auto tokens = static_cast<double>(result.token_count);
  const std::int64_t micro_batches =
      settings_.batch.global_batch_size / settings_.batch.micro_batch_size;
  result.loss = sums[0] / tokens;
  result.auxiliary_loss = sums[1] / static_cast<double>(micro_batches);
}

template <typename T>
StepResult RankTrainer<T>::accumulate_gradients(std::int64_t step) {
  StepResult result;
  result.step = step;
  result.token_count = settings_.batch.global_batch_size * spec_.shape.sequence_length;
  const PhaseTimer timer(result.phases.total_s);
  store_.zero_gradients();
  for (const Task& task : tasks_) execute(task, step, result);
  reduce_losses(result);
  return result;
}

template <typename T>
StepResult RankTrainer<T>::step(std::int64_t step, double learning_rate) {
  StepResult result = accumulate_gradients(step);
  double optimizer_s = 0;
  {
    const PhaseTimer timer(optimizer_s);
    const OptimizerStep update = optimizer_.step(learning_rate);
    result.gradient_norm = update.gradient_norm;
    result.is_updated = update.is_updated;
    for (const auto& chunk : stages_) chunk->end_step();
  }
  result.phases.optimizer_s = optimizer_s;
  result.phases.total_s += optimizer_s;
  return result;
}

template <typename T>
std::vector<NamedHistory> RankTrainer<T>::scaling_histories() {
  std::vector<NamedHistory> all;
  for (const auto& chunk : stages_) {
    std::vector<NamedHistory> its = chunk->scaling_histories();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

template <typename T>
MemoryUse RankTrainer<T>::memory_use() const {
  MemoryUse use;
  use.parameters = store_.weight_bytes();
  use.gradients = store_.gradient_bytes() + optimizer_.gradient_bytes();
  use.optimizer = optimizer_.state_bytes();
  use.activations_max = kept_bytes_max_;
  use.tensors_max = cpu::memory_meter().bytes_max;
  return use;
}

template class RankTrainer<float>;
template class RankTrainer<double>;

}  // namespace llmb::runner
