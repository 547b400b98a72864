// The definitions of moe_block.h: included where a backend is put together, once.
#pragma once

#include <algorithm>
#include <utility>

#include "runner/model/moe_block.h"
namespace llmb::runner {
namespace detail {

template <typename Backend>
std::int64_t local_experts(const StageContext<Backend>& context) {
  return context.spec.shape.expert_count / context.sizes.ep;
}

}  // namespace detail

template <typename Backend>
MoeBlock<Backend>::MoeBlock(const StageContext<Backend>& context,
                            const ParameterStore<Backend>& store, const std::string& name)
    : context_(context),
      // As the models were published: Grok-1 takes the chosen of the probabilities of all experts,
      // Llama 4 the sigmoid of the chosen logit, and multiplies what goes into the expert.
      score_(context.spec.shape.family == "llama4_maverick" ? RouterScore::sigmoid
             : context.spec.shape.family == "grok1"         ? RouterScore::softmax_of_all
                                                            : RouterScore::softmax_of_chosen),
      weights_on_inputs_(context.spec.shape.family == "llama4_maverick"),
      router_(store.at(name + "router.weight")),
      fc1_(context, store.at(name + "experts.fc1.weight"), detail::local_experts(context)),
      fc2_(context, store.at(name + "experts.fc2.weight"), detail::local_experts(context)) {
  if (context.spec.shape.shared_expert_ffn_hidden_size > 0) {
    shared_.emplace(context, store, name + "shared_expert");
  }
}

template <typename Backend>
ConstStatisticView<Backend> MoeBlock<Backend>::weights_if(bool here, const State& state) const {
  using WeightView = ConstStatisticView<Backend>;
  return here ? WeightView(state.weights) : WeightView{};
}

template <typename Backend>
void MoeBlock<Backend>::balance(State& state, TotalsView<Backend> auxiliary_loss) const {
  const ModelShape& shape = context_.spec.shape;
  state.balance.resize(context_.ops, 1, shape.expert_count);
  context_.ops.fill(state.balance.values(), 0);
  if (context_.spec.auxiliary_loss_coefficient == 0) return;
  StatisticTensor<Backend> tokens(context_.ops, 1, shape.expert_count);
  context_.ops.expert_load(state.rows_of_expert.values(), tokens);
  // Over the whole micro-batch.
  if (context_.sizes.tp > 1) {
    context_.groups.tensor->all_reduce(tokens.values(), ReduceOp::sum, "tp.expert_load");
  }
  if (context_.sizes.cp > 1) {
    context_.groups.context->all_reduce(tokens.values(), ReduceOp::sum, "cp.expert_load");
  }
  context_.ops.auxiliary_gradient(context_.spec.auxiliary_loss_coefficient, context_.token_count(),
                                  shape.experts_per_token, tokens, state.balance);
  context_.ops.add_auxiliary_loss(state.probabilities, state.balance, auxiliary_loss);
}

template <typename Backend>
void MoeBlock<Backend>::run_experts(State& state, Tensor& local) {
  const std::int64_t experts = detail::local_experts(context_);
  const std::int64_t rows = state.inputs.rows();
  state.before.resize(context_.ops, rows, fc1_.rows() / experts);
  state.after.resize(context_.ops, rows, fc2_.cols());
  local.resize(context_.ops, rows, fc2_.rows() / experts);
  state.exchange.with_rows([&](auto counts) { fc1_.forward(counts, state.inputs, state.before); });
  context_.ops.activation(context_.spec.shape.activation, state.before, state.after);
  keep<Backend>(context_.ops, context_.precision, state.after);
  state.exchange.with_rows([&](auto counts) { fc2_.forward(counts, state.after, local); });
}

template <typename Backend>
void MoeBlock<Backend>::run_experts_backward(const State& state, ConstView d_local,
                                             Tensor& d_inputs) {
  Tensor d_after(context_.ops, state.after.rows(), state.after.cols());
  state.exchange.with_rows(
      [&](auto counts) { fc2_.backward(counts, state.after, d_local, d_after); });
  Tensor d_before(context_.ops, state.before.rows(), state.before.cols());
  context_.ops.activation_backward(context_.spec.shape.activation, state.before, d_after, d_before);
  keep<Backend>(context_.ops, context_.precision, d_before);
  d_inputs.resize(context_.ops, state.inputs.rows(), state.inputs.cols());
  state.exchange.with_rows(
      [&](auto counts) { fc1_.backward(counts, state.inputs, d_before, d_inputs); });
}

template <typename Backend>
void MoeBlock<Backend>::forward(ConstView x, State& state, View y,
                                TotalsView<Backend> auxiliary_loss) {
  const ModelShape& shape = context_.spec.shape;
  const std::int64_t top_k = shape.experts_per_token;
  StatisticTensor<Backend> logits(context_.ops, x.rows, shape.expert_count);
  context_.ops.router_logits(x, router_.value(), logits);
  state.probabilities.resize(context_.ops, x.rows, shape.expert_count);
  state.choices.resize(context_.ops, x.rows, top_k);
  state.weights.resize(context_.ops, x.rows, top_k);
  context_.ops.router(score_, logits, state.probabilities, state.choices, state.weights);
  state.row_of_slot.resize(context_.ops, x.rows * top_k);
  state.rows_of_expert.resize(context_.ops, shape.expert_count);
  context_.ops.sort_by_expert(state.choices, state.row_of_slot.values(),
                              state.rows_of_expert.values());
  balance(state, auxiliary_loss);

  state.exchange.plan(context_, state.rows_of_expert.values(), x.rows * top_k);
  // What stays here stays in the state's own memory, from one micro-batch to the next.
  const bool stays_here = state.exchange.stays_here(context_);
  Tensor rows = stays_here ? std::move(state.inputs) : Tensor();
  rows.resize(context_.ops, x.rows * top_k, x.cols);
  context_.ops.scatter_to_experts(state.row_of_slot.values(), weights_if(weights_on_inputs_, state),
                                  x, rows);
  keep<Backend>(context_.ops, context_.precision, rows);
  rows_max_ = std::max(rows_max_, state.exchange.local_rows());
  state.exchange.to_experts(context_, rows, state.inputs);
  Tensor local = stays_here ? std::move(state.outputs) : Tensor();
  run_experts(state, local);
  state.exchange.from_experts(context_, local, state.outputs);
  context_.ops.combine_from_experts(state.row_of_slot.values(),
                                    weights_if(!weights_on_inputs_, state), state.outputs, y);
  keep<Backend>(context_.ops, context_.precision, y);

  if (shared_) {
    Tensor shared_output(context_.ops, y.rows, y.cols);
    shared_->forward(x, state.shared, shared_output);
    context_.ops.add(shared_output, y);
    keep<Backend>(context_.ops, context_.precision, y);
  }
}

template <typename Backend>
void MoeBlock<Backend>::backward(ConstView x, const State& state, ConstView dy,
                                 double auxiliary_scale, View dx) {
  Tensor d_outputs(context_.ops, state.outputs.rows(), state.outputs.cols());
  context_.ops.scatter_to_experts(state.row_of_slot.values(),
                                  weights_if(!weights_on_inputs_, state), dy, d_outputs);
  keep<Backend>(context_.ops, context_.precision, d_outputs);
  Tensor d_local;
  state.exchange.to_experts(context_, d_outputs, d_local);
  Tensor d_inputs;
  run_experts_backward(state, d_local, d_inputs);
  Tensor d_rows;
  state.exchange.from_experts(context_, d_inputs, d_rows);
  context_.ops.combine_from_experts(state.row_of_slot.values(),
                                    weights_if(weights_on_inputs_, state), d_rows, dx);

  StatisticTensor<Backend> d_weights(context_.ops, state.weights.rows(), state.weights.cols());
  if (weights_on_inputs_) {
    context_.ops.dot_with_experts(state.row_of_slot.values(), x, d_rows, d_weights);
  } else {
    context_.ops.dot_with_experts(state.row_of_slot.values(), dy, state.outputs, d_weights);
  }
  StatisticTensor<Backend> d_logits(context_.ops, state.probabilities.rows(),
                                    state.probabilities.cols());
  context_.ops.router_backward(score_, state.probabilities, state.choices, state.weights, d_weights,
                               state.balance, auxiliary_scale, d_logits);
  context_.ops.router_logits_backward(x, router_.value(), d_logits, dx, router_.gradient());
  keep<Backend>(context_.ops, context_.precision, dx);

  if (shared_) {
    Tensor d_shared(context_.ops, dx.rows, dx.cols);
    shared_->backward(x, state.shared, dy, d_shared);
    context_.ops.add(d_shared, dx);
    keep<Backend>(context_.ops, context_.precision, dx);
  }
}

}  // namespace llmb::runner
