#include "runner/cpu/router.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "runner/cpu/op_profile.h"

namespace llmb::runner::cpu {
namespace {

template <typename T>
void softmax(const T* in, std::int64_t count, T* out) {
  const T maximum = *std::max_element(in, in + count);
  T sum = 0;
  for (std::int64_t j = 0; j < count; ++j) sum += out[j] = std::exp(in[j] - maximum);
  for (std::int64_t j = 0; j < count; ++j) out[j] /= sum;
}

template <typename T>
void choose_top(const T* logits, std::int64_t experts, std::span<std::int64_t> chosen) {
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const auto taken = chosen.first(j);
    std::int64_t best = -1;
    for (std::int64_t e = 0; e < experts; ++e) {
      if (std::find(taken.begin(), taken.end(), e) != taken.end()) continue;
      if (best < 0 || logits[e] > logits[best]) best = e;
    }
    chosen[j] = best;
  }
}

// gradient of softmax: p (dp - sum p dp), added to dlogits
template <typename T>
void add_softmax_gradient(std::span<const T> p, std::span<const T> dp, std::span<T> dlogits) {
  T dot = 0;
  for (std::size_t j = 0; j < p.size(); ++j) dot += p[j] * dp[j];
  for (std::size_t j = 0; j < p.size(); ++j) dlogits[j] += p[j] * (dp[j] - dot);
}

}  // namespace

template <typename T>
void Router<T>::forward(RouterScore score, View<const T> logits, View<T> probabilities,
                        View<std::int64_t> choices, View<T> weights) {
  const OpTimer timer("router.forward");
  assert(choices.cols == weights.cols && choices.cols <= logits.cols);
  const std::int64_t top_k = choices.cols;
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    const T* logit = logits.row(i);
    T* weight = weights.row(i);
    const std::int64_t* choice = choices.row(i);
    softmax(logit, logits.cols, probabilities.row(i));
    choose_top(logit, logits.cols, choices.slice(i, 1).values());
    for (std::int64_t j = 0; j < top_k; ++j) {
      switch (score) {
        case RouterScore::softmax_of_all:
          weight[j] = probabilities.row(i)[choice[j]];
          break;
        case RouterScore::softmax_of_chosen:
          weight[j] = logit[choice[j]];
          break;
        case RouterScore::sigmoid:
          weight[j] = 1 / (1 + std::exp(-logit[choice[j]]));
          break;
      }
    }
    if (score == RouterScore::softmax_of_chosen) softmax(weight, top_k, weight);
  }
}

template <typename T>
void Router<T>::backward(RouterScore score, View<const T> probabilities,
                         View<const std::int64_t> choices, View<const T> weights,
                         View<const T> dweights, std::span<const T> dprobability, View<T> dlogits) {
  const OpTimer timer("router.backward");
  const std::int64_t top_k = choices.cols;
  std::vector<T> dp(dprobability.size());
  std::vector<T> dchosen(static_cast<std::size_t>(top_k));
  for (std::int64_t i = 0; i < dlogits.rows; ++i) {
    const std::int64_t* choice = choices.row(i);
    const T* weight = weights.row(i);
    const T* dweight = dweights.row(i);
    T* dlogit = dlogits.row(i);
    std::copy(dprobability.begin(), dprobability.end(), dp.begin());
    std::fill_n(dlogit, dlogits.cols, T(0));
    std::fill(dchosen.begin(), dchosen.end(), T(0));
    if (score == RouterScore::softmax_of_all) {
      for (std::int64_t j = 0; j < top_k; ++j) dp[choice[j]] += dweight[j];
    } else if (score == RouterScore::softmax_of_chosen) {
      add_softmax_gradient<T>(weights.slice(i, 1).values(), dweights.slice(i, 1).values(), dchosen);
    } else {
      for (std::int64_t j = 0; j < top_k; ++j)
        dchosen[j] = dweight[j] * weight[j] * (1 - weight[j]);
    }
    for (std::int64_t j = 0; j < top_k; ++j) dlogit[choice[j]] += dchosen[j];
    add_softmax_gradient<T>(probabilities.slice(i, 1).values(), dp, dlogits.slice(i, 1).values());
  }
}

template <typename T>
void AuxiliaryLoss<T>::count(View<const std::int64_t> choices, std::span<T> tokens) {
  const OpTimer timer("auxiliary_loss.count");
  std::fill(tokens.begin(), tokens.end(), T(0));
  for (const std::int64_t expert : choices.values()) tokens[expert] += 1;
}

template <typename T>
void AuxiliaryLoss<T>::gradient(T coefficient, std::int64_t token_count, std::int64_t top_k,
                                std::span<const T> tokens, std::span<T> dprobability) {
  const OpTimer timer("auxiliary_loss.gradient");
  const T count = static_cast<T>(token_count);
  const T factor =
      coefficient * static_cast<T>(tokens.size()) / (static_cast<T>(top_k) * count * count);
  for (std::size_t e = 0; e < tokens.size(); ++e) dprobability[e] = factor * tokens[e];
}

template <typename T>
void AuxiliaryLoss<T>::add_value(View<const T> probabilities, std::span<const T> dprobability,
                                 View<double> total) {
  const OpTimer timer("auxiliary_loss.add_value");
  T loss = 0;
  for (std::int64_t i = 0; i < probabilities.rows; ++i) {
    for (std::int64_t e = 0; e < probabilities.cols; ++e) {
      loss += probabilities.row(i)[e] * dprobability[e];
    }
  }
  *total.data += static_cast<double>(loss);
}

template struct Router<float>;
template struct Router<double>;
template struct AuxiliaryLoss<float>;
template struct AuxiliaryLoss<double>;

}  // namespace llmb::runner::cpu
