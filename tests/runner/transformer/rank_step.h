// RankStep: one rank's training step in a test, in the plainest order: every micro-batch forward,
// every micro-batch backward, then the sums over ranks. What a trainer must equal, whatever its
// schedule and its optimizer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runner/cpu/adamw.h"
#include "runner/cpu/backend.h"
#include "runner/model/transformer_stage.h"

namespace llmb::runner::testing {

template <typename T>
class RankStep {
 public:
  RankStep(World& world, const ModelSpec& spec, const Layout& layout, const BatchSizes& batch,
           std::uint64_t seed, const StageOptions& options = {})
      : spec_(spec),
        sizes_(layout.sizes()),
        place_(layout.place_of(world.rank())),
        batch_(batch),
        data_(seed, spec.shape.vocabulary_size),
        groups_(std::make_unique<RankGroups>(make_rank_groups(world, layout))),
        store_(ops_, spec, layout, world.rank()) {
    store_.initialize(spec, seed);
    for (int chunk = 0; chunk < sizes_.vp; ++chunk) {
      stages_.push_back(std::make_unique<TransformerStage<cpu::Backend<T>>>(
          ops_, spec, layout, world.rank(), chunk, batch.micro_batch_size, store_, *groups_,
          options));
    }
  }

  const ParameterStore<cpu::Backend<T>>& store() const { return store_; }

  // Gradients of the mean over the global batch's tokens, with the auxiliary loss. Returns it.
  double forward_backward(std::int64_t step) {
    store_.zero_gradients();
    for (std::int64_t m = 0; m < micro_batches(); ++m) forward_micro_batch(step, m);
    for (std::int64_t m = 0; m < micro_batches(); ++m) backward_micro_batch(m);
    reduce_gradients();
    std::vector<double> loss = {losses()};
    groups_->world->all_reduce(loss, ReduceOp::sum, "test.loss");
    return loss[0];
  }

  void update(const cpu::AdamWSettings& settings, std::int64_t step) {
    for (const ParameterBlock block : kParameterBlocks) {
      auto& moments = moments_[static_cast<std::size_t>(block)];
      moments[0].resize(store_.weights(block).size());
      moments[1].resize(store_.weights(block).size());
      cpu::AdamW<T>::update(settings, step, 1, store_.gradients(block), store_.weights(block),
                            moments[0], moments[1]);
    }
  }

 private:
  std::int64_t micro_batches() const { return micro_batch_count(batch_, sizes_); }
  double loss_scale() const {
    return 1 / static_cast<double>(batch_.global_batch_size * spec_.shape.sequence_length);
  }
  // Chunk v of this stage is the model's chunk v * pp + stage.
  bool is_first(int chunk) const { return place_.pp == 0 && chunk == 0; }
  bool is_last(int chunk) const { return place_.pp == sizes_.pp - 1 && chunk == sizes_.vp - 1; }
  int before() const { return (place_.pp + sizes_.pp - 1) % sizes_.pp; }
  int after() const { return (place_.pp + 1) % sizes_.pp; }

  void forward_micro_batch(std::int64_t step, std::int64_t m) {
    const std::int64_t size = batch_.micro_batch_size;
    const TokenBatch tokens = data_.batch(step, (place_.dp * micro_batches() + m) * size, size,
                                          spec_.shape.sequence_length);
    for (int chunk = 0; chunk < sizes_.vp; ++chunk) {
      auto& stage = *stages_[static_cast<std::size_t>(chunk)];
      std::vector<T> input(is_first(chunk) ? 0 : stage.boundary_elements());
      std::vector<T> output(is_last(chunk) ? 0 : stage.boundary_elements());
      if (!is_first(chunk)) groups_->pipeline->recv(input, before(), "test.activation");
      stage.forward(m, tokens, loss_scale(), input, output);
      if (!is_last(chunk)) groups_->pipeline->send(output, after(), "test.activation");
    }
  }

  // Every rank of the tensor group has the same sum; parts of the auxiliary loss add up.
  double losses() {
    const auto tokens = static_cast<double>(batch_.micro_batch_size * spec_.shape.sequence_length);
    double sum = 0;
    for (const auto& stage : stages_) {
      const StageLoss losses = stage->take_losses();
      sum += losses.loss_sum / sizes_.tp + losses.auxiliary_loss * tokens;
    }
    return loss_scale() * sum;
  }

  void backward_micro_batch(std::int64_t m) {
    for (int chunk = sizes_.vp - 1; chunk >= 0; --chunk) {
      auto& stage = *stages_[static_cast<std::size_t>(chunk)];
      std::vector<T> d_output(is_last(chunk) ? 0 : stage.boundary_elements());
      std::vector<T> d_input(is_first(chunk) ? 0 : stage.boundary_elements());
      if (!is_last(chunk)) groups_->pipeline->recv(d_output, after(), "test.gradient");
      stage.backward(m, d_output, d_input);
      if (!is_first(chunk)) groups_->pipeline->send(d_input, before(), "test.gradient");
    }
  }

  void reduce_gradients() {
    if (sizes_.tp > 1) {  // parameters that every rank of the group has whole, side by side
      std::vector<T> whole;
      for (const LocalParameter<cpu::Backend<T>>& local : store_.parameters()) {
        if (local.parameter.tensor_axis) continue;
        whole.insert(whole.end(), local.gradient.begin(), local.gradient.end());
      }
      groups_->tensor->all_reduce(whole, ReduceOp::sum, "test.whole_gradients");
      auto next = whole.begin();
      for (const LocalParameter<cpu::Backend<T>>& local : store_.parameters()) {
        if (local.parameter.tensor_axis) continue;
        std::copy_n(next, local.gradient.size(), local.gradient.begin());
        next += static_cast<std::ptrdiff_t>(local.gradient.size());
      }
    }
    groups_->data_context->all_reduce(store_.gradients(ParameterBlock::dense), ReduceOp::sum,
                                      "test.dense_gradients");
    groups_->expert_data->all_reduce(store_.gradients(ParameterBlock::expert), ReduceOp::sum,
                                     "test.expert_gradients");
  }

  ModelSpec spec_;
  ParallelSizes sizes_;
  RankPlace place_;
  BatchSizes batch_;
  SyntheticTokens data_;
  std::unique_ptr<RankGroups> groups_;
  cpu::Ops<T> ops_;
  ParameterStore<cpu::Backend<T>> store_;
  std::vector<std::unique_ptr<TransformerStage<cpu::Backend<T>>>> stages_;
  std::array<std::array<std::vector<T>, 2>, 2> moments_;
};

}  // namespace llmb::runner::testing
