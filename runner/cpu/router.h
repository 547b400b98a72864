// Router: which experts each token goes to, with what weight, and the auxiliary loss that keeps
// their load balanced. A tie goes to the expert with the lower number.
#pragma once

#include <span>

#include "runner/cpu/tensor.h"
#include "runner/operation/router_score.h"

namespace llmb::runner::cpu {

using runner::RouterScore;

template <typename T>
struct Router {
  // logits (n, experts) -> probabilities (n, experts): softmax over all; choices (n, k): experts,
  // best first; weights (n, k)
  static void forward(RouterScore score, View<const T> logits, View<T> probabilities,
                      View<std::int64_t> choices, View<T> weights);
  // dweights (n, k), and dprobability (experts), the same for every token, from the auxiliary
  // loss -> dlogits (n, experts) overwritten
  static void backward(RouterScore score, View<const T> probabilities,
                       View<const std::int64_t> choices, View<const T> weights,
                       View<const T> dweights, std::span<const T> dprobability, View<T> dlogits);
};

// Source: Fedus et al. 2021, as Megatron-LM has it for top-k. Over all T tokens of a micro-batch:
//   loss = coefficient * experts / (k T^2) * sum_e tokens_e * sum_t probability_te
// where tokens_e counts choices of expert e, and has no gradient. Ranks that share a micro-batch
// sum tokens_e; each then knows its own gradient, and the losses add up over them.
template <typename T>
struct AuxiliaryLoss {
  // choices (n, k) -> tokens (experts)
  static void count(View<const std::int64_t> choices, std::span<T> tokens);
  // tokens (experts) of the whole micro-batch -> dprobability (experts)
  static void gradient(T coefficient, std::int64_t token_count, std::int64_t top_k,
                       std::span<const T> tokens, std::span<T> dprobability);
  // total (1, 1) += this rank's part of the loss
  static void add_value(View<const T> probabilities, std::span<const T> dprobability,
                        View<double> total);
};

}  // namespace llmb::runner::cpu
