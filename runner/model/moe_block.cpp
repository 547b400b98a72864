#include "runner/model/moe_block.h"

#include "runner/cpu/ops.h"

namespace llmb::runner {
namespace {

std::int64_t local_experts(const StageContext& context) {
  return context.spec.shape.expert_count / context.sizes.ep;
}

}  // namespace

template <typename Ops>
MoeBlock<Ops>::MoeBlock(const StageContext& context, const ParameterStore<Element>& store,
                        const std::string& name)
    : context_(context),
      // As the models were published: Grok-1 takes the chosen of the probabilities of all experts,
      // Llama 4 the sigmoid of the chosen logit, and multiplies what goes into the expert.
      score_(context.spec.shape.family == "llama4_maverick" ? Ops::RouterScore::sigmoid
             : context.spec.shape.family == "grok1"         ? Ops::RouterScore::softmax_of_all
                                                            : Ops::RouterScore::softmax_of_chosen),
      weights_on_inputs_(context.spec.shape.family == "llama4_maverick"),
      router_(store.at(name + "router.weight")),
      fc1_(context, store.at(name + "experts.fc1.weight"), local_experts(context)),
      fc2_(context, store.at(name + "experts.fc2.weight"), local_experts(context)) {
  if (context.spec.shape.shared_expert_ffn_hidden_size > 0) {
    shared_.emplace(context, store, name + "shared_expert");
  }
}

template <typename Ops>
typename Ops::ConstView MoeBlock<Ops>::weights_if(bool here, const State& state) const {
  return here ? ConstView(state.weights) : ConstView{};
}

template <typename Ops>
void MoeBlock<Ops>::balance(State& state, typename Ops::TotalsView auxiliary_loss) const {
  const ModelShape& shape = context_.spec.shape;
  state.balance.resize(1, shape.expert_count);
  state.balance.fill(0);
  if (context_.spec.auxiliary_loss_coefficient == 0) return;
  Tensor tokens(1, shape.expert_count);
  Ops::AuxiliaryLoss::count(state.choices, tokens.values());
  // Over the whole micro-batch.
  if (context_.sizes.tp > 1) {
    context_.groups.tensor->all_reduce(tokens.values(), ReduceOp::sum, "tp.expert_load");
  }
  if (context_.sizes.cp > 1) {
    context_.groups.context->all_reduce(tokens.values(), ReduceOp::sum, "cp.expert_load");
  }
  Ops::AuxiliaryLoss::gradient(static_cast<Element>(context_.spec.auxiliary_loss_coefficient),
                               context_.token_count(), shape.experts_per_token, tokens.values(),
                               state.balance.values());
  Ops::AuxiliaryLoss::add_value(state.probabilities, state.balance.values(), auxiliary_loss);
}

template <typename Ops>
void MoeBlock<Ops>::run_experts(State& state, Tensor& local) {
  const auto& counts = state.exchange.rows_of_local_expert();
  const auto experts = static_cast<std::int64_t>(counts.size());
  const std::int64_t rows = state.inputs.rows();
  state.before.resize(rows, fc1_.rows() / experts);
  state.after.resize(rows, fc2_.cols());
  local.resize(rows, fc2_.rows() / experts);
  fc1_.forward(counts, state.inputs, state.before);
  Ops::Activation::forward(context_.spec.shape.activation, state.before, state.after);
  keep<Ops>(context_.precision, state.after);
  fc2_.forward(counts, state.after, local);
}

template <typename Ops>
void MoeBlock<Ops>::run_experts_backward(const State& state, ConstView d_local, Tensor& d_inputs) {
  const auto& counts = state.exchange.rows_of_local_expert();
  Tensor d_after(state.after.rows(), state.after.cols());
  fc2_.backward(counts, state.after, d_local, d_after);
  Tensor d_before(state.before.rows(), state.before.cols());
  Ops::Activation::backward(context_.spec.shape.activation, state.before, d_after, d_before);
  keep<Ops>(context_.precision, d_before);
  d_inputs.resize(state.inputs.rows(), state.inputs.cols());
  fc1_.backward(counts, state.inputs, d_before, d_inputs);
}

template <typename Ops>
void MoeBlock<Ops>::forward(ConstView x, State& state, View y,
                            typename Ops::TotalsView auxiliary_loss) {
  const ModelShape& shape = context_.spec.shape;
  const std::int64_t top_k = shape.experts_per_token;
  Tensor logits(x.rows, shape.expert_count);
  Ops::Linear::forward(x, router_.template value_as<ConstView>(), logits);
  state.probabilities.resize(x.rows, shape.expert_count);
  state.choices.resize(x.rows, top_k);
  state.weights.resize(x.rows, top_k);
  Ops::Router::forward(score_, logits, state.probabilities, state.choices, state.weights);
  balance(state, auxiliary_loss);

  state.order.sort(state.choices, shape.expert_count);
  state.exchange.plan(context_, state.order.rows_of_expert);
  Tensor rows(x.rows * top_k, x.cols);
  Ops::ExpertRows::scatter(state.order, weights_if(weights_on_inputs_, state), x, rows);
  keep<Ops>(context_.precision, rows);
  state.exchange.to_experts(context_, rows, state.inputs);
  Tensor local;
  run_experts(state, local);
  state.exchange.from_experts(context_, local, state.outputs);
  Ops::ExpertRows::combine(state.order, weights_if(!weights_on_inputs_, state), state.outputs, y);
  keep<Ops>(context_.precision, y);

  if (shared_) {
    Tensor shared_output(y.rows, y.cols);
    shared_->forward(x, state.shared, shared_output);
    Ops::Elementwise::add(shared_output, y);
    keep<Ops>(context_.precision, y);
  }
}

template <typename Ops>
void MoeBlock<Ops>::backward(ConstView x, const State& state, ConstView dy, double auxiliary_scale,
                             View dx) {
  Tensor d_outputs(state.outputs.rows(), state.outputs.cols());
  Ops::ExpertRows::scatter(state.order, weights_if(!weights_on_inputs_, state), dy, d_outputs);
  keep<Ops>(context_.precision, d_outputs);
  Tensor d_local;
  state.exchange.to_experts(context_, d_outputs, d_local);
  Tensor d_inputs;
  run_experts_backward(state, d_local, d_inputs);
  Tensor d_rows;
  state.exchange.from_experts(context_, d_inputs, d_rows);
  Ops::ExpertRows::combine(state.order, weights_if(weights_on_inputs_, state), d_rows, dx);

  Tensor d_weights(state.weights.rows(), state.weights.cols());
  if (weights_on_inputs_) {
    Ops::ExpertRows::dot(state.order, x, d_rows, d_weights);
  } else {
    Ops::ExpertRows::dot(state.order, dy, state.outputs, d_weights);
  }
  Tensor d_probability(1, state.balance.cols());
  Ops::Elementwise::scale(static_cast<Element>(auxiliary_scale), state.balance, d_probability);
  Tensor d_logits(state.probabilities.rows(), state.probabilities.cols());
  Ops::Router::backward(score_, state.probabilities, state.choices, state.weights, d_weights,
                        d_probability.values(), d_logits);
  Ops::Linear::backward_weight(x, d_logits, router_.template gradient_as<View>());
  Ops::Linear::backward_input(d_logits, router_.template value_as<ConstView>(), dx, true);
  keep<Ops>(context_.precision, dx);

  if (shared_) {
    Tensor d_shared(dx.rows, dx.cols);
    shared_->backward(x, state.shared, dy, d_shared);
    Ops::Elementwise::add(d_shared, dx);
    keep<Ops>(context_.precision, dx);
  }
}

template class MoeBlock<cpu::Ops<float>>;
template class MoeBlock<cpu::Ops<double>>;

}  // namespace llmb::runner
