// The definitions of head_block.h: included where a backend is put together, once.
#pragma once

#include <algorithm>

#include "runner/model/head_block.h"
#include "runner/model/head_chunk.h"
#include "runner/model/sequence_parallel.h"

namespace llmb::runner {

template <typename Backend>
HeadBlock<Backend>::HeadBlock(const StageContext<Backend>& context,
                              const ParameterStore<Backend>& store)
    : context_(context),
      norm_(context, store, "final_norm"),
      head_(context, store.at("head.weight"), 0, false) {}

template <typename Backend>
void HeadBlock<Backend>::pass(ConstView x, Targets targets, double loss_scale,
                              TotalsView<Backend> loss_sum, View dx) {
  Tensor normalized;
  StatisticTensor<Backend> statistics;
  norm_.forward(x, normalized, statistics);
  Tensor d_normalized(context_.ops, x.rows, x.cols);
  {
    Tensor storage;
    Tensor partial_storage;
    const ConstView input = gather_sequence<Backend>(context_, normalized, storage, "tp.head_in");
    const View partial = partial_of<Backend>(context_, d_normalized, partial_storage);
    pass_chunks(input, targets, loss_scale, loss_sum, partial);
    scatter_sequence<Backend>(context_, partial, d_normalized, "tp.head_in_grad");
  }
  norm_.backward(x, statistics, d_normalized, dx);
}

template <typename Backend>
std::int64_t HeadBlock<Backend>::chunk_rows(std::int64_t rows) const {
  if (context_.head_chunk_rows > 0) return std::min(rows, context_.head_chunk_rows);
  return head_chunk_rows(rows, head_.rows(), sizeof(typename Backend::Value));
}

template <typename Backend>
void HeadBlock<Backend>::pass_chunks(ConstView input, Targets targets, double loss_scale,
                                     TotalsView<Backend> loss_sum, View dinput) {
  const std::int64_t rows_max = chunk_rows(input.rows);
  StatisticTensor<Backend> losses(context_.ops, input.rows, 1);
  Tensor storage(context_.ops, rows_max, head_.rows());
  for (std::int64_t first = 0; first < input.rows; first += rows_max) {
    const std::int64_t rows = std::min(rows_max, input.rows - first);
    const View logits = storage.view().slice(0, rows);
    const ConstView chunk = input.slice(first, rows);
    head_.forward(chunk, logits);
    cross_entropy(logits,
                  targets.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)),
                  loss_scale, losses.view().slice(first, rows));
    keep<Backend>(context_.ops, context_.precision, logits);
    head_.backward(chunk, logits, dinput.slice(first, rows));
  }
  context_.ops.add_sum(losses, loss_sum);
}

template <typename Backend>
void HeadBlock<Backend>::cross_entropy(View logits, Targets targets, double loss_scale,
                                       StatisticView<Backend> losses) {
  auto& ops = context_.ops;
  if (context_.sizes.tp == 1) {
    return ops.cross_entropy_whole(logits, targets, loss_scale, losses);
  }
  const std::int64_t first_token = context_.place.tp * head_.rows();
  StatisticTensor<Backend> local;
  StatisticTensor<Backend> maxima(ops, logits.rows, 1);
  StatisticTensor<Backend> sums(ops, logits.rows, 2);
  ops.cross_entropy_maxima(logits, local, maxima);
  context_.groups.tensor->all_reduce(maxima.values(), ReduceOp::max, "tp.loss_maxima");
  ops.cross_entropy_sums(logits, local, maxima, targets, first_token, sums);
  context_.groups.tensor->all_reduce(sums.values(), ReduceOp::sum, "tp.loss_sums");
  ops.cross_entropy_losses(sums, losses);
  ops.cross_entropy_backward(logits, maxima, sums, targets, first_token, loss_scale);
}

}  // namespace llmb::runner
