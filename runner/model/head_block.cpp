#include "runner/model/head_block.h"

#include "runner/cpu/ops.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

template <typename Ops>
HeadBlock<Ops>::HeadBlock(const StageContext& context, const ParameterStore<Element>& store)
    : context_(context),
      norm_(context, store, "final_norm"),
      head_(context, store.at("head.weight"), 0, false) {}

template <typename Ops>
void HeadBlock<Ops>::forward(ConstView x, State& state, typename Ops::TotalsView loss_sum) {
  state.input.resize(x.rows, x.cols);
  Ops::Elementwise::copy(x, state.input);
  norm_.forward(state.input, state.normalized, state.statistics);
  Tensor storage;
  const ConstView input = gather_sequence<Ops>(context_, state.normalized, storage, "tp.head_in");
  state.logits.resize(input.rows, head_.rows());
  head_.forward(input, state.logits);

  state.maxima.resize(input.rows, 1);
  state.sums.resize(input.rows, 2);
  Tensor losses(input.rows, 1);
  Ops::CrossEntropy::local_max(state.logits, state.maxima.values());
  if (context_.sizes.tp > 1) {
    context_.groups.tensor->all_reduce(state.maxima.values(), ReduceOp::max, "tp.loss_maxima");
  }
  Ops::CrossEntropy::local_sums(state.logits, state.maxima.values(), state.targets, first_token(),
                                state.sums);
  if (context_.sizes.tp > 1) {
    context_.groups.tensor->all_reduce(state.sums.values(), ReduceOp::sum, "tp.loss_sums");
  }
  Ops::CrossEntropy::losses(state.sums, losses.values());
  Ops::Elementwise::add_sum(losses, loss_sum);
}

template <typename Ops>
void HeadBlock<Ops>::backward(State& state, double loss_scale, View dx) {
  Ops::CrossEntropy::backward(state.logits, state.maxima.values(), state.sums, state.targets,
                              first_token(), static_cast<Element>(loss_scale));
  Tensor storage;
  const ConstView input =
      gather_sequence<Ops>(context_, state.normalized, storage, "tp.head_in_again");
  keep<Ops>(context_.precision, state.logits);
  Tensor partial(input.rows, input.cols);
  head_.backward(input, state.logits, partial);
  Tensor d_normalized(dx.rows, dx.cols);
  scatter_sequence<Ops>(context_, partial, d_normalized, "tp.head_in_grad");
  norm_.backward(state.input, state.statistics, d_normalized, dx);
}

template class HeadBlock<cpu::Ops<float>>;
template class HeadBlock<cpu::Ops<double>>;

}  // namespace llmb::runner
