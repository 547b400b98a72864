#include "runner/model/transformer_stage.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "runner/cpu/ops.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

namespace {

// Layers of the rank's earlier chunks.
std::int64_t layers_before(const StageContext& context, int chunk) {
  std::int64_t count = 0;
  for (int earlier = 0; earlier < chunk; ++earlier) {
    count +=
        layers_of(context.sizes, context.spec.shape.layer_count, context.place.pp, earlier).size();
  }
  return count;
}

}  // namespace

template <typename Ops>
TransformerStage<Ops>::TransformerStage(const ModelSpec& spec, const Layout& layout, int rank,
                                        int chunk, std::int64_t micro_batch_size,
                                        ParameterStore<Element>& store, RankGroups& groups,
                                        const StageOptions& options)
    : context_(spec, layout, rank, groups, micro_batch_size, options.precision),
      store_(store),
      loss_sum_(1, 1),
      auxiliary_loss_(1, 1) {
  loss_sum_.fill(0);
  auxiliary_loss_.fill(0);
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
      options.recomputed_layers - layers_before(context_, chunk), 0, range.size()));
  layers_.reserve(static_cast<std::size_t>(range.size()));
  for (std::int64_t layer = range.first; layer < range.last; ++layer) {
    layers_.emplace_back(context_, store, layer);
  }
  if (is_last) head_.emplace(context_, store);
  histories_ = find_histories();
}

template <typename Ops>
std::size_t TransformerStage<Ops>::boundary_elements() const {
  return static_cast<std::size_t>(context_.shard_rows() * context_.spec.shape.hidden_size);
}

template <typename Ops>
std::vector<std::int64_t> TransformerStage<Ops>::context_tokens(const TokenBatch& batch,
                                                                int shift) const {
  std::vector<std::int64_t> tokens;
  for (const std::int64_t position : context_.positions) {
    for (std::int64_t sample = 0; sample < batch.sequences; ++sample) {
      const auto all = shift == 0 ? batch.inputs(sample) : batch.targets(sample);
      tokens.push_back(all[static_cast<std::size_t>(position)]);
    }
  }
  return tokens;
}

template <typename Ops>
typename TransformerStage<Ops>::State& TransformerStage<Ops>::begin(std::int64_t micro_batch) {
  std::unique_ptr<State>& state = in_flight_[micro_batch];
  if (state) {
    throw std::logic_error("micro-batch " + std::to_string(micro_batch) +
                           " went forward twice without going back");
  }
  if (free_.empty()) {
    state = std::make_unique<State>();
    state->layers.resize(layers_.size());
    state->recomputed_inputs.resize(recomputed_layers_);
  } else {
    state = std::move(free_.back());
    free_.pop_back();
  }
  return *state;
}

template <typename Ops>
std::unique_ptr<typename TransformerStage<Ops>::State> TransformerStage<Ops>::finish(
    std::int64_t micro_batch) {
  auto node = in_flight_.extract(micro_batch);
  if (node.empty()) {
    throw std::logic_error("micro-batch " + std::to_string(micro_batch) +
                           " goes back without having gone forward");
  }
  return std::move(node.mapped());
}

template <typename Ops>
void TransformerStage<Ops>::embed(const State& state, View x) const {
  Tensor partial(context_.context_rows(), embedding_->cols);
  Ops::Embedding::forward(state.tokens, context_.place.tp * embedding_->rows,
                          embedding_->template value_as<typename Ops::ConstView>(), partial);
  scatter_sequence<Ops>(context_, partial, x, "tp.embedding");
}

template <typename Ops>
void TransformerStage<Ops>::embed_backward(const State& state, typename Ops::ConstView dx) const {
  Tensor storage;
  const auto gradient = gather_sequence<Ops>(context_, dx, storage, "tp.embedding_grad");
  Ops::Embedding::backward(state.tokens, context_.place.tp * embedding_->rows, gradient,
                           embedding_->template gradient_as<View>());
}

template <typename Ops>
void TransformerStage<Ops>::forward_layer(std::size_t index, View x, State& state) {
  const ResidentLayer whole(store_, context_.groups, layer_of(index), PassKind::forward);
  if (index >= recomputed_layers_) {
    return layers_[index].forward(x, state.layers[index], auxiliary_loss_);
  }
  Tensor& input = state.recomputed_inputs[index];
  input.resize(x.rows, x.cols);
  Ops::Elementwise::copy(x, input);
  typename TransformerLayer<Ops>::State forgotten;
  layers_[index].forward(x, forgotten, auxiliary_loss_);
}

template <typename Ops>
void TransformerStage<Ops>::backward_layer(std::size_t index, State& state, double auxiliary_scale,
                                           View dx) {
  ResidentLayer whole(store_, context_.groups, layer_of(index), PassKind::backward);
  if (index >= recomputed_layers_) {
    layers_[index].backward(state.layers[index], auxiliary_scale, dx);
  } else {
    Tensor x(dx.rows, dx.cols);
    Ops::Elementwise::copy(state.recomputed_inputs[index], x);
    typename TransformerLayer<Ops>::State again;
    typename Ops::Totals counted_before(1, 1);
    counted_before.fill(0);
    layers_[index].forward(x, again, counted_before);
    layers_[index].backward(again, auxiliary_scale, dx);
  }
  whole.share_gradients();
}

template <typename Ops>
typename TransformerStage<Ops>::Histories TransformerStage<Ops>::find_histories() {
  Histories all;
  if (context_.precision != Precision::fp8_delayed) return all;
  const std::int64_t first_expert =
      context_.groups.expert->rank() * (context_.spec.shape.expert_count / context_.sizes.ep);
  const auto into = [first_expert](std::vector<NamedHistory>& list) {
    return [&list, first_expert](LinearLayer<Ops>& linear) {
      linear.add_histories(first_expert, list);
    };
  };
  for (TransformerLayer<Ops>& layer : layers_) {
    layer.visit_linears(into(all.dense), into(all.experts));
  }
  return all;
}

template <typename Ops>
std::vector<NamedHistory> TransformerStage<Ops>::scaling_histories() {
  Histories all = histories_;
  const RankGroups& groups = context_.groups;
  const bool saves_experts = groups.expert_data->rank() == 0 && groups.expert_tensor->rank() == 0;
  for (NamedHistory& dense : all.dense) dense.is_saved_here = groups.stage->rank() == 0;
  for (NamedHistory& expert : all.experts) {
    expert.is_saved_here = saves_experts;
    all.dense.push_back(std::move(expert));
  }
  return std::move(all.dense);
}

template <typename Ops>
void TransformerStage<Ops>::end_step() {
  const auto end = [](const std::vector<NamedHistory>& histories,
                      std::initializer_list<Communicator*> sharers, CallTag tag) {
    std::vector<double> maxima;
    maxima.reserve(histories.size());
    for (const NamedHistory& named : histories) maxima.push_back(named.history->step_max());
    for (Communicator* group : sharers) {
      if (group->size() > 1 && !maxima.empty()) group->all_reduce(maxima, ReduceOp::max, tag);
    }
    for (std::size_t i = 0; i < histories.size(); ++i) {
      histories[i].history->step_max() = maxima[i];
      histories[i].history->end_step();
    }
  };
  const RankGroups& groups = context_.groups;
  end(histories_.dense, {groups.stage.get()}, "fp8.amax");
  end(histories_.experts, {groups.expert_data.get(), groups.expert_tensor.get()},
      "fp8.expert_amax");
}

template <typename Ops>
void TransformerStage<Ops>::forward(std::int64_t micro_batch, const TokenBatch& batch,
                                    std::span<const Element> input, std::span<Element> output) {
  if (batch.sequences != context_.micro_batch_size ||
      batch.length != context_.spec.shape.sequence_length) {
    throw std::invalid_argument("a micro-batch of " + std::to_string(batch.sequences) + " x " +
                                std::to_string(batch.length) + " tokens came to a stage made for " +
                                std::to_string(context_.micro_batch_size) + " x " +
                                std::to_string(context_.spec.shape.sequence_length));
  }
  State& state = begin(micro_batch);
  const std::int64_t hidden = context_.spec.shape.hidden_size;
  const std::int64_t rows = context_.shard_rows();
  Tensor x(rows, hidden);
  if (embedding_) {
    const ResidentLayer whole(store_, context_.groups, -1, PassKind::forward);
    state.tokens = context_tokens(batch, 0);
    embed(state, x);
  } else {
    Ops::Elementwise::copy({input.data(), rows, hidden}, x);
  }
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) forward_layer(layer, x, state);
  if (head_) {
    const ResidentLayer whole(store_, context_.groups, context_.spec.shape.layer_count,
                              PassKind::forward);
    state.head.targets = context_tokens(batch, 1);
    head_->forward(x, state.head, loss_sum_);
  } else {
    Ops::Elementwise::copy(x, {output.data(), rows, hidden});
  }
}

template <typename Ops>
StageLoss TransformerStage<Ops>::take_losses() {
  const StageLoss losses{*loss_sum_.data(), *auxiliary_loss_.data()};
  loss_sum_.fill(0);
  auxiliary_loss_.fill(0);
  return losses;
}

template <typename Ops>
void TransformerStage<Ops>::backward(std::int64_t micro_batch, double loss_scale,
                                     std::span<const Element> output_gradient,
                                     std::span<Element> input_gradient) {
  std::unique_ptr<State> state = finish(micro_batch);
  const std::int64_t hidden = context_.spec.shape.hidden_size;
  const std::int64_t rows = context_.shard_rows();
  Tensor dx(rows, hidden);
  if (head_) {
    ResidentLayer whole(store_, context_.groups, context_.spec.shape.layer_count,
                        PassKind::backward);
    head_->backward(state->head, loss_scale, dx);
    whole.share_gradients();
  } else {
    Ops::Elementwise::copy({output_gradient.data(), rows, hidden}, dx);
  }
  const double auxiliary_scale = loss_scale * static_cast<double>(context_.token_count());
  for (std::size_t layer = layers_.size(); layer-- > 0;) {
    backward_layer(layer, *state, auxiliary_scale, dx);
  }
  if (embedding_) {
    ResidentLayer whole(store_, context_.groups, -1, PassKind::backward);
    embed_backward(*state, dx);
    whole.share_gradients();
  } else {
    Ops::Elementwise::copy(dx, {input_gradient.data(), rows, hidden});
  }
  // Of several chunks each would hold memory that another one needs.
  if (context_.sizes.vp == 1) free_.push_back(std::move(state));
}

template class TransformerStage<cpu::Ops<float>>;
template class TransformerStage<cpu::Ops<double>>;

}  // namespace llmb::runner
