// The definitions of transformer_stage.h: included where a backend is put together, once.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "runner/model/sequence_parallel.h"
#include "runner/model/transformer_stage.h"

namespace llmb::runner {

namespace detail {

// Layers of the rank's earlier chunks.
template <typename Backend>
std::int64_t layers_before(const StageContext<Backend>& context, int chunk) {
  std::int64_t count = 0;
  for (int earlier = 0; earlier < chunk; ++earlier) {
    count +=
        layers_of(context.sizes, context.spec.shape.layer_count, context.place.pp, earlier).size();
  }
  return count;
}

}  // namespace detail

template <typename Backend>
TransformerStage<Backend>::TransformerStage(typename Backend::Ops& ops, const ModelSpec& spec,
                                            const Layout& layout, int rank, int chunk,
                                            std::int64_t micro_batch_size,
                                            ParameterStore<Backend>& store, RankGroups& groups,
                                            const StageOptions& options)
    : context_(ops, spec, layout, rank, groups, micro_batch_size, options.precision),
      store_(store),
      forward_passes_(ops.make_passes()),
      backward_passes_(ops.make_passes()),
      losses_(ops, 2, 1) {
  ops.fill(losses_.values(), 0);
  context_.keeps_fp8_weights = options.keeps_fp8_weights;
  context_.head_chunk_rows = options.head_chunk_rows;
  context_.expert_counts = options.expert_counts;
  if (spec.shape.tied_embeddings) {
    throw std::invalid_argument(spec.shape.family +
                                ": tied embeddings are not trained here; no recipe has them");
  }
  const LayerRange range =
      layers_of(context_.sizes, spec.shape.layer_count, context_.place.pp, chunk);
  const bool is_first = context_.place.pp == 0 && chunk == 0;
  const bool is_last = context_.place.pp == context_.sizes.pp - 1 && chunk == context_.sizes.vp - 1;
  if (is_first) embedding_.emplace(store.at("embedding.weight"));
  first_layer_ = range.first;
  recomputed_layers_ = static_cast<std::size_t>(std::clamp<std::int64_t>(
      options.recomputed_layers - detail::layers_before(context_, chunk), 0, range.size()));
  layers_.reserve(static_cast<std::size_t>(range.size()));
  for (std::int64_t layer = range.first; layer < range.last; ++layer) {
    layers_.emplace_back(context_, store, layer);
  }
  if (is_last) head_.emplace(context_, store);
  find_scaled_linears();
}

template <typename Backend>
std::size_t TransformerStage<Backend>::boundary_elements() const {
  return static_cast<std::size_t>(context_.shard_rows() * context_.spec.shape.hidden_size);
}

template <typename Backend>
void TransformerStage<Backend>::write_tokens(const TokenBatch& batch, int shift,
                                             IndexArray<Backend>& tokens) {
  std::vector<std::int64_t> host;
  for (const std::int64_t position : context_.positions) {
    for (std::int64_t sample = 0; sample < batch.sequences; ++sample) {
      const auto all = shift == 0 ? batch.inputs(sample) : batch.targets(sample);
      host.push_back(all[static_cast<std::size_t>(position)]);
    }
  }
  write_indices<Backend>(context_.ops, host, tokens);
}

template <typename Backend>
typename TransformerStage<Backend>::State& TransformerStage<Backend>::begin(
    std::int64_t micro_batch) {
  std::unique_ptr<State>& state = in_flight_[micro_batch];
  if (state) {
    throw std::logic_error(
        fmt::format("micro-batch {} went forward twice without going back", micro_batch));
  }
  if (free_.empty()) {
    state = std::make_unique<State>();
    state->number = ++states_;
    state->layers.resize(layers_.size());
    state->recomputed_inputs.resize(recomputed_layers_);
  } else {
    state = std::move(free_.back());
    free_.pop_back();
  }
  return *state;
}

template <typename Backend>
std::unique_ptr<typename TransformerStage<Backend>::State> TransformerStage<Backend>::finish(
    std::int64_t micro_batch) {
  auto node = in_flight_.extract(micro_batch);
  if (node.empty()) {
    throw std::logic_error(
        fmt::format("micro-batch {} goes back without having gone forward", micro_batch));
  }
  return std::move(node.mapped());
}

// Its way back is gone here, while its logits are there: on the last stage a micro-batch's backward
// pass comes right after its forward one anyway. What is left of the head is the gradient of x.
template <typename Backend>
void TransformerStage<Backend>::pass_head(View x, State& state) {
  ResidentLayer whole(context_.ops, store_, context_.groups, context_.spec.shape.layer_count,
                      PassKind::backward);
  head_->pass(x, targets_.values(), state.loss_scale, loss_sum(), state.head_gradient);
  whole.share_gradients();
}

template <typename Backend>
void TransformerStage<Backend>::embed(const State& state, View x) const {
  Tensor partial_storage;
  const View partial = partial_of<Backend>(context_, x, partial_storage);
  context_.ops.embedding(state.tokens.values(), context_.place.tp * embedding_->rows,
                         embedding_->value(), partial);
  scatter_sequence<Backend>(context_, partial, x, "tp.embedding");
}

template <typename Backend>
void TransformerStage<Backend>::embed_backward(const State& state,
                                               ConstValueView<Backend> dx) const {
  Tensor storage;
  const auto gradient = gather_sequence<Backend>(context_, dx, storage, "tp.embedding_grad");
  context_.ops.embedding_backward(state.tokens.values(), context_.place.tp * embedding_->rows,
                                  gradient, embedding_->gradient());
}

template <typename Backend>
void TransformerStage<Backend>::forward_layer(std::size_t index, View x, State& state) {
  const ResidentLayer whole(context_.ops, store_, context_.groups, layer_of(index),
                            PassKind::forward);
  if (index >= recomputed_layers_) {
    return layers_[index].forward(x, state.layers[index], auxiliary_loss());
  }
  Tensor& input = state.recomputed_inputs[index];
  input.resize(context_.ops, x.rows, x.cols);
  context_.ops.copy(x, input);
  typename TransformerLayer<Backend>::State forgotten;
  layers_[index].forward(x, forgotten, auxiliary_loss());
}

template <typename Backend>
void TransformerStage<Backend>::backward_layer(std::size_t index, State& state,
                                               double auxiliary_scale, View dx) {
  ResidentLayer whole(context_.ops, store_, context_.groups, layer_of(index), PassKind::backward);
  if (index >= recomputed_layers_) {
    layers_[index].backward(state.layers[index], auxiliary_scale, dx);
  } else {
    Tensor x(context_.ops, dx.rows, dx.cols);
    context_.ops.copy(state.recomputed_inputs[index], x);
    typename TransformerLayer<Backend>::State again;
    Totals<Backend> counted_before(context_.ops, 1, 1);
    context_.ops.fill(counted_before.values(), 0);
    layers_[index].forward(x, again, counted_before);
    layers_[index].backward(again, auxiliary_scale, dx);
  }
  whole.share_gradients();
}

template <typename Backend>
void TransformerStage<Backend>::prepare_linears() {
  if (!is_fp8(context_.precision)) return;
  const auto prepare = [](LinearLayer<Backend>& linear) { linear.prepare(); };
  const auto prepare_experts = [this](LinearLayer<Backend>& linear) {
    if (context_.counts_experts_on_device()) linear.prepare();
  };
  for (TransformerLayer<Backend>& layer : layers_) layer.visit_linears(prepare, prepare_experts);
}

template <typename Backend>
void TransformerStage<Backend>::find_scaled_linears() {
  if (context_.precision != Precision::fp8_delayed) return;
  const std::int64_t first_expert =
      context_.groups.expert->rank() * (context_.spec.shape.expert_count / context_.sizes.ep);
  const auto into = [first_expert](ScaledLinears& scaled) {
    return [&scaled, first_expert](LinearLayer<Backend>& linear) {
      scaled.linears.push_back(&linear);
      linear.add_histories(first_expert, scaled.histories);
    };
  };
  for (TransformerLayer<Backend>& layer : layers_) {
    layer.visit_linears(into(dense_), into(experts_));
  }
}

template <typename Backend>
std::vector<NamedHistory> TransformerStage<Backend>::scaling_histories() {
  std::vector<NamedHistory> all = dense_.histories;
  const RankGroups& groups = context_.groups;
  const bool saves_experts = groups.expert_data->rank() == 0 && groups.expert_tensor->rank() == 0;
  for (NamedHistory& dense : all) dense.is_saved_here = groups.stage->rank() == 0;
  for (NamedHistory expert : experts_.histories) {
    expert.is_saved_here = saves_experts;
    all.push_back(std::move(expert));
  }
  return all;
}

template <typename Backend>
std::int64_t TransformerStage<Backend>::expert_rows_max() const {
  std::int64_t most = 0;
  for (const TransformerLayer<Backend>& layer : layers_) {
    most = std::max(most, layer.expert_rows_max());
  }
  return most;
}

template <typename Backend>
void TransformerStage<Backend>::end_scaling_step(ScaledLinears& scaled,
                                                 std::initializer_list<Communicator*> sharers,
                                                 CallTag tag) {
  using Statistic = typename Backend::Statistic;
  if (scaled.histories.empty()) return;
  typename Backend::template Array<Statistic> maxima(
      context_.ops, static_cast<std::int64_t>(scaled.histories.size()));
  std::size_t first = 0;
  for (LinearLayer<Backend>* linear : scaled.linears) {
    linear->take_maxima(maxima.values().subspan(first, linear->history_count()));
    first += linear->history_count();
  }
  for (Communicator* group : sharers) {
    if (group->size() > 1) group->all_reduce(maxima.values(), ReduceOp::max, tag);
  }
  const auto on_host = context_.ops.read(maxima.values());
  for (std::size_t i = 0; i < scaled.histories.size(); ++i) {
    scaled.histories[i].history->end_step(static_cast<double>(on_host.values()[i]));
  }
}

template <typename Backend>
void TransformerStage<Backend>::end_step() {
  const RankGroups& groups = context_.groups;
  end_scaling_step(dense_, {groups.stage.get()}, "fp8.amax");
  end_scaling_step(experts_, {groups.expert_data.get(), groups.expert_tensor.get()},
                   "fp8.expert_amax");
}

template <typename Backend>
void TransformerStage<Backend>::forward(std::int64_t micro_batch, const TokenBatch& batch,
                                        double loss_scale, std::span<const Value> input,
                                        std::span<Value> output) {
  if (batch.sequences != context_.micro_batch_size ||
      batch.length != context_.spec.shape.sequence_length) {
    throw std::invalid_argument(fmt::format(
        "a micro-batch of {} x {} tokens came to a stage made for {} x {}", batch.sequences,
        batch.length, context_.micro_batch_size, context_.spec.shape.sequence_length));
  }
  State& state = begin(micro_batch);
  state.loss_scale = loss_scale;
  prepare_linears();
  const std::int64_t hidden = context_.spec.shape.hidden_size;
  const std::int64_t rows = context_.shard_rows();
  boundary_.resize(context_.ops, rows, hidden);
  if (embedding_) {
    write_tokens(batch, 0, state.tokens);
  } else {
    context_.ops.copy({input.data(), rows, hidden}, boundary_);
  }
  if (head_) {
    write_tokens(batch, 1, targets_);
    state.head_gradient.resize(context_.ops, rows, hidden);
  }
  run_forward(state, false);
  if (!head_) context_.ops.copy(boundary_, {output.data(), rows, hidden});
  if (!context_.ops.keeps_places()) boundary_ = {};
}

template <typename Backend>
void TransformerStage<Backend>::run_forward(State& state, bool is_only_prepared) {
  const PassKey key{state.number, state.loss_scale, {boundary_.data(), state.head_gradient.data()}};
  const auto pass = [&] { pass_forward(boundary_, state); };
  if (is_only_prepared) return forward_passes_.prepare(key, context_.groups.all(), pass);
  forward_passes_.run(key, context_.groups.all(), pass);
}

template <typename Backend>
void TransformerStage<Backend>::run_backward(State& state, bool is_only_prepared) {
  Tensor& dx = gradient_of(state);
  const PassKey key{state.number, state.loss_scale, {dx.data()}};
  const auto pass = [&] { pass_backward(dx, state); };
  if (is_only_prepared) return backward_passes_.prepare(key, context_.groups.all(), pass);
  backward_passes_.run(key, context_.groups.all(), pass);
}

template <typename Backend>
void TransformerStage<Backend>::prepare_passes() {
  prepare_linears();
  for (const std::unique_ptr<State>& state : free_) {
    run_forward(*state, true);
    run_backward(*state, true);
  }
}

template <typename Backend>
void TransformerStage<Backend>::pass_forward(View x, State& state) {
  if (embedding_) {
    const ResidentLayer whole(context_.ops, store_, context_.groups, -1, PassKind::forward);
    embed(state, x);
  }
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) forward_layer(layer, x, state);
  if (head_) pass_head(x, state);
}

template <typename Backend>
StageLoss TransformerStage<Backend>::take_losses() {
  const auto sums = context_.ops.read(losses_.values());
  const StageLoss losses{sums.values()[0], sums.values()[1]};
  context_.ops.fill(losses_.values(), 0);
  return losses;
}

template <typename Backend>
void TransformerStage<Backend>::backward(std::int64_t micro_batch,
                                         std::span<const Value> output_gradient,
                                         std::span<Value> input_gradient) {
  std::unique_ptr<State> state = finish(micro_batch);
  const std::int64_t hidden = context_.spec.shape.hidden_size;
  const std::int64_t rows = context_.shard_rows();
  Tensor& dx = gradient_of(*state);
  if (!head_) {
    dx.resize(context_.ops, rows, hidden);
    context_.ops.copy({output_gradient.data(), rows, hidden}, dx);
  }
  run_backward(*state, false);
  if (!embedding_) context_.ops.copy(dx, {input_gradient.data(), rows, hidden});
  if (!context_.ops.keeps_places()) dx = {};
  // Of several chunks each holds memory that another one could have: only where it has to stay.
  if (context_.sizes.vp == 1 || context_.ops.keeps_places()) free_.push_back(std::move(state));
}

template <typename Backend>
void TransformerStage<Backend>::pass_backward(View dx, State& state) {
  const double auxiliary_scale = state.loss_scale * static_cast<double>(context_.token_count());
  for (std::size_t layer = layers_.size(); layer-- > 0;) {
    backward_layer(layer, state, auxiliary_scale, dx);
  }
  if (embedding_) {
    ResidentLayer whole(context_.ops, store_, context_.groups, -1, PassKind::backward);
    embed_backward(state, dx);
    whole.share_gradients();
  }
}

}  // namespace llmb::runner
