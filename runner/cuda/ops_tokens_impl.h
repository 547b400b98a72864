// The definitions of ops.h for what knows tokens and experts: embedding, loss, router and the order
// of rows. Included by ops_instances.cpp only.
#pragma once

#include <algorithm>

#include "runner/cuda/ops.h"
#include "runner/cuda/ops_operands.h"
#include "runner/kernels/cross_entropy.h"
#include "runner/kernels/embedding.h"
#include "runner/kernels/expert_rows.h"
#include "runner/kernels/grouped_product.h"
#include "runner/kernels/router.h"
#include "runner/kernels/row_order.h"

namespace llmb::runner::cuda {
namespace detail {

inline kernels::RouterScoreKind kind_of(RouterScore score) {
  switch (score) {
    case RouterScore::softmax_of_all:
      return kernels::RouterScoreKind::softmax_of_all;
    case RouterScore::softmax_of_chosen:
      return kernels::RouterScoreKind::softmax_of_chosen;
    case RouterScore::sigmoid:
      break;
  }
  return kernels::RouterScoreKind::sigmoid;
}

// Of a product whose every row meets one expert's matrix, whichever it is.
template <typename In, typename Out>
double flops_of_rows(In in, Out out) {
  return 2.0 * static_cast<double>(in.rows) * static_cast<double>(in.cols) *
         static_cast<double>(out.cols);
}

}  // namespace detail

template <typename T>
void Ops<T>::embedding(Indices tokens, std::int64_t first_token, In table, Out y) {
  const OpRange op = range("embedding.forward");
  count_moved(y, y);
  kernels::embedding_forward<T>(
      {tokens.data(), first_token, detail::matrix(table), detail::matrix(y)}, stream());
}

template <typename T>
void Ops<T>::embedding_backward(Indices tokens, std::int64_t first_token, In dy, Gradients dtable) {
  const OpRange op = range("embedding.backward");
  Tensor<Index> workspace(*this, 2, dy.rows);
  kernels::embedding_backward<T>(
      {tokens.data(), first_token, detail::matrix(dy), detail::matrix(dtable),
       workspace.view().row(0), workspace.view().row(1)},
      stream());
}

template <typename T>
void Ops<T>::cross_entropy_whole(Out logits, Indices targets, double scale, StatisticsOut losses) {
  const OpRange op = range("cross_entropy.whole");
  count_moved(logits, logits);
  Tensor<float> device_scale(*this, 1, 1);
  fill(device_scale.values(), static_cast<float>(scale));
  kernels::cross_entropy_fused<T>(
      {detail::matrix(logits), targets.data(), device_scale.data(), losses.data}, stream());
}

// `local` (2, n): this rank's maxima, and sums of what lies above them.
template <typename T>
void Ops<T>::cross_entropy_maxima(In logits, Tensor<float>& local, StatisticsOut maxima) {
  const OpRange op = range("cross_entropy.local_max");
  count_moved(logits);
  local.resize(*this, 2, logits.rows);
  kernels::cross_entropy_statistics<T>(
      {detail::matrix(logits), local.view().row(0), local.view().row(1), maxima.data}, stream());
}

template <typename T>
void Ops<T>::cross_entropy_sums(In logits, const Tensor<float>& local, Statistics maxima,
                                Indices targets, std::int64_t first_token, StatisticsOut sums) {
  const OpRange op = range("cross_entropy.local_sums");
  kernels::cross_entropy_rebase<T>({detail::matrix(logits),
                                    {targets.data(), first_token},
                                    local.view().row(0),
                                    local.view().row(1),
                                    maxima.data,
                                    sums.data},
                                   stream());
}

template <typename T>
void Ops<T>::cross_entropy_losses(Statistics sums, StatisticsOut losses) {
  const OpRange op = range("cross_entropy.losses");
  kernels::cross_entropy_losses(sums.data, sums.rows, losses.data, stream());
}

template <typename T>
void Ops<T>::cross_entropy_backward(Out logits, Statistics maxima, Statistics sums, Indices targets,
                                    std::int64_t first_token, double scale) {
  const OpRange op = range("cross_entropy.backward");
  count_moved(logits, logits);
  Tensor<float> device_scale(*this, 1, 1);
  fill(device_scale.values(), static_cast<float>(scale));
  kernels::cross_entropy_backward<T>({detail::matrix(logits),
                                      {targets.data(), first_token},
                                      maxima.data,
                                      sums.data,
                                      device_scale.data()},
                                     stream());
}

template <typename T>
View<const float> Ops<T>::widened(In x, Tensor<float>& storage) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    storage.resize(*this, x.rows, x.cols);
    kernels::scaled_copy<T, float>({.x = detail::matrix(x), .y = detail::matrix(storage.view())},
                                   stream());
    return storage;
  }
}

template <typename T>
void Ops<T>::router_logits(In x, In weight, StatisticsOut logits) {
  const OpRange op = range("router.logits");
  multiply(detail::forward_product(x, weight, logits));
}

// Gradients of the logits are fp32, and stay so in both products.
template <typename T>
void Ops<T>::router_logits_backward(In x, In weight, Statistics dlogits, Out dx,
                                    Gradients dweight) {
  const OpRange op = range("router.logits_backward");
  Tensor<float> wide_x;
  Tensor<float> wide_weight;
  multiply(detail::weight_product(widened(x, wide_x), dlogits, dweight));
  const Statistics wide = widened(weight, wide_weight);
  if constexpr (std::is_same_v<T, float>) {
    multiply(detail::input_product(dlogits, wide, dx, 1));
  } else {
    Tensor<float> more(*this, dx.rows, dx.cols);
    multiply(detail::input_product(dlogits, wide, more.view(), 0));
    kernels::scaled_copy<float, T>({.x = detail::matrix(Statistics(more)),
                                    .y = detail::matrix(dx),
                                    .addend = detail::matrix(dx)},
                                   stream());
  }
}

template <typename T>
void Ops<T>::router(RouterScore score, Statistics logits, StatisticsOut probabilities,
                    View<Index> choices, StatisticsOut weights) {
  const OpRange op = range("router.forward");
  kernels::router_forward(
      {detail::kind_of(score), detail::matrix(logits), detail::matrix(probabilities),
       detail::matrix(choices), detail::matrix(weights)},
      stream());
}

template <typename T>
void Ops<T>::router_backward(RouterScore score, Statistics probabilities, View<const Index> choices,
                             Statistics weights, Statistics dweights, Statistics dprobability,
                             double dprobability_scale, StatisticsOut dlogits) {
  const OpRange op = range("router.backward");
  kernels::router_backward(
      {detail::kind_of(score), detail::matrix(probabilities), detail::matrix(choices),
       detail::matrix(weights), detail::matrix(dweights), dprobability.data,
       static_cast<float>(dprobability_scale), detail::matrix(dlogits)},
      stream());
}

template <typename T>
void Ops<T>::expert_load(Indices rows_of_expert, StatisticsOut tokens) {
  const OpRange op = range("auxiliary_loss.count");
  kernels::expert_load(rows_of_expert.data(), tokens.cols, tokens.data, stream());
}

template <typename T>
void Ops<T>::auxiliary_gradient(double coefficient, std::int64_t token_count, std::int64_t top_k,
                                Statistics tokens, StatisticsOut dprobability) {
  const OpRange op = range("auxiliary_loss.gradient");
  kernels::auxiliary_gradient(static_cast<float>(coefficient), token_count, top_k, tokens.data,
                              tokens.cols, dprobability.data, stream());
}

template <typename T>
void Ops<T>::add_auxiliary_loss(Statistics probabilities, Statistics dprobability,
                                View<double> total) {
  const OpRange op = range("auxiliary_loss.add_value");
  constexpr std::int64_t kPartials = 256;
  Tensor<double> workspace(*this, 1, kPartials + 1);
  double* const loss = workspace.data() + kPartials;
  kernels::auxiliary_loss(detail::matrix(probabilities), dprobability.data, workspace.data(), loss,
                          stream());
  kernels::sum_values(static_cast<const double*>(loss), 1, total.data, true, stream());
}

template <typename T>
void Ops<T>::sort_by_expert(View<const Index> choices, std::span<Index> row_of_slot,
                            std::span<Index> rows_of_expert) {
  const OpRange op = range("expert_rows.sort");
  kernels::sort_by_expert({choices.data, choices.size(), std::ssize(rows_of_expert),
                           row_of_slot.data(), rows_of_expert.data()},
                          stream());
}

template <typename T>
void Ops<T>::order_arrivals(Indices counts, std::span<Index> order,
                            std::span<Index> rows_of_expert) {
  const OpRange op = range("expert_rows.order_arrivals");
  const std::int64_t experts = std::ssize(rows_of_expert);
  kernels::order_arrivals(
      {counts.data(), std::ssize(counts) / experts, experts, order.data(), rows_of_expert.data()},
      stream());
}

template <typename T>
void Ops<T>::grouped_linear(Indices rows, In x, In weight, Out y) {
  const OpRange op = range("grouped_linear.forward");
  profile_.add_work({.flops = detail::flops_of_rows(x, y)});
  kernels::grouped_forward<T>({rows.data(), std::ssize(rows)}, detail::matrix(x),
                              detail::matrix(weight), detail::matrix(y), stream());
}

template <typename T>
void Ops<T>::grouped_linear_backward_input(Indices rows, In dy, In weight, Out dx) {
  const OpRange op = range("grouped_linear.backward_input");
  profile_.add_work({.flops = detail::flops_of_rows(dy, dx)});
  kernels::grouped_backward_input<T>({rows.data(), std::ssize(rows)}, detail::matrix(dy),
                                     detail::matrix(weight), detail::matrix(dx), stream());
}

template <typename T>
void Ops<T>::grouped_linear_backward_weight(Indices rows, In x, In dy, Gradients dweight) {
  const OpRange op = range("grouped_linear.backward_weight");
  profile_.add_work({.flops = detail::flops_of_rows(x, dy)});
  kernels::grouped_backward_weight<T>({rows.data(), std::ssize(rows)}, detail::matrix(x),
                                      detail::matrix(dy), detail::matrix(dweight), stream());
}

template <typename T>
void Ops<T>::scatter_to_experts(Indices row_of_slot, Statistics weights, In x, Out rows) {
  const OpRange op = range("expert_rows.scatter");
  count_moved(rows, rows);
  kernels::scatter_to_experts<T>(row_of_slot.data(), rows.rows / std::max<std::int64_t>(x.rows, 1),
                                 weights.data, detail::matrix(x), detail::matrix(rows), stream());
}

template <typename T>
void Ops<T>::combine_from_experts(Indices row_of_slot, Statistics weights, In rows, Out y) {
  const OpRange op = range("expert_rows.combine");
  count_moved(rows, y);
  kernels::combine_from_experts<T>(row_of_slot.data(),
                                   rows.rows / std::max<std::int64_t>(y.rows, 1), weights.data,
                                   detail::matrix(rows), detail::matrix(y), stream());
}

template <typename T>
void Ops<T>::dot_with_experts(Indices row_of_slot, In x, In rows, StatisticsOut dots) {
  const OpRange op = range("expert_rows.dot");
  count_moved(x, rows);
  kernels::dot_with_experts<T>(row_of_slot.data(), dots.cols, detail::matrix(x),
                               detail::matrix(rows), dots.data, stream());
}

template <typename T>
void Ops<T>::take_rows(Indices order, In in, Out out) {
  const OpRange op = range("row_order.take");
  count_moved(in, out);
  kernels::take_rows<T>(order.data(), detail::matrix(in), detail::matrix(out), stream());
}

template <typename T>
void Ops<T>::put_rows(Indices order, In in, Out out) {
  const OpRange op = range("row_order.put");
  count_moved(in, out);
  kernels::put_rows<T>(order.data(), detail::matrix(in), detail::matrix(out), stream());
}

}  // namespace llmb::runner::cuda
