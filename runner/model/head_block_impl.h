// The definitions of head_block.h: included where a backend is put together, once.
#pragma once

#include "runner/model/head_block.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

template <typename Backend>
HeadBlock<Backend>::HeadBlock(const StageContext<Backend>& context,
                              const ParameterStore<Backend>& store)
    : context_(context),
      norm_(context, store, "final_norm"),
      head_(context, store.at("head.weight"), 0, false) {}

template <typename Backend>
void HeadBlock<Backend>::forward(ConstView x, State& state, TotalsView<Backend> loss_sum) {
  state.input.resize(context_.ops, x.rows, x.cols);
  context_.ops.copy(x, state.input);
  norm_.forward(state.input, state.normalized, state.statistics);
  Tensor storage;
  const ConstView input =
      gather_sequence<Backend>(context_, state.normalized, storage, "tp.head_in");
  state.logits.resize(context_.ops, input.rows, head_.rows());
  head_.forward(input, state.logits);

  state.maxima.resize(context_.ops, input.rows, 1);
  state.sums.resize(context_.ops, input.rows, 2);
  StatisticTensor<Backend> local;
  StatisticTensor<Backend> losses(context_.ops, input.rows, 1);
  context_.ops.cross_entropy_maxima(state.logits, local, state.maxima);
  if (context_.sizes.tp > 1) {
    context_.groups.tensor->all_reduce(state.maxima.values(), ReduceOp::max, "tp.loss_maxima");
  }
  context_.ops.cross_entropy_sums(state.logits, local, state.maxima, state.targets.values(),
                                  first_token(), state.sums);
  if (context_.sizes.tp > 1) {
    context_.groups.tensor->all_reduce(state.sums.values(), ReduceOp::sum, "tp.loss_sums");
  }
  context_.ops.cross_entropy_losses(state.sums, losses);
  context_.ops.add_sum(losses, loss_sum);
}

template <typename Backend>
void HeadBlock<Backend>::backward(State& state, double loss_scale, View dx) {
  context_.ops.cross_entropy_backward(state.logits, state.maxima, state.sums,
                                      state.targets.values(), first_token(), loss_scale);
  Tensor storage;
  const ConstView input =
      gather_sequence<Backend>(context_, state.normalized, storage, "tp.head_in_again");
  keep<Backend>(context_.ops, context_.precision, state.logits);
  Tensor d_normalized(context_.ops, dx.rows, dx.cols);
  Tensor partial_storage;
  const View partial = partial_of<Backend>(context_, d_normalized, partial_storage);
  head_.backward(input, state.logits, partial);
  scatter_sequence<Backend>(context_, partial, d_normalized, "tp.head_in_grad");
  norm_.backward(state.input, state.statistics, d_normalized, dx);
}

}  // namespace llmb::runner
