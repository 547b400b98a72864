#include "runner/kernels/router.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "runner/kernels/column_sum.h"
#include "runner/kernels/device.h"
#include "runner/kernels/elementwise.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;
constexpr int kPerLane = kExpertsMax / kWarp;  // experts lane, lane + 32, … of a token

struct Best {
  float logit;
  int expert;
};

__device__ Best warp_best(Best best) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const float logit = __shfl_xor_sync(0xffffffffU, best.logit, step);
    const int expert = __shfl_xor_sync(0xffffffffU, best.expert, step);
    if (logit > best.logit || (logit == best.logit && expert < best.expert)) best = {logit, expert};
  }
  return best;
}

// A warp has a token.
struct RouterForwardKernel {
  static constexpr int kThreadsMax = kThreads;

  RouterForward in;

  __device__ void operator()() const {
    const std::int64_t token = block_x() * kWarps + warp_index();
    if (token >= in.logits.rows) return;  // the whole warp
    const int experts = static_cast<int>(in.logits.cols);
    float logits[kPerLane];
    float largest = -INFINITY;
    for (int i = 0; i < kPerLane; ++i) {
      const int expert = i * kWarp + lane_index();
      logits[i] = expert < experts ? in.logits.row(token)[expert] : -INFINITY;
      largest = fmaxf(largest, logits[i]);
    }
    largest = warp_reduce(largest, Larger());
    float sum = 0;
    for (const float logit : logits) sum += expf(logit - largest);
    sum = warp_reduce(sum);
    for (int i = 0; i < kPerLane; ++i) {
      const int expert = i * kWarp + lane_index();
      if (expert < experts) {
        in.probabilities.row(token)[expert] = expf(logits[i] - largest) / sum;
      }
    }
    choose(token, logits, largest, sum);
  }

  // Takes the best k times; lane j keeps the j-th. What is no number is behind all others, so that
  // every choice is an expert, whatever the logits are.
  __device__ void choose(std::int64_t token, const float (&logits)[kPerLane], float largest,
                         float sum) const {
    const int top_k = static_cast<int>(in.choices.cols);
    const int experts = static_cast<int>(in.logits.cols);
    unsigned taken = 0;
    Best own = {-INFINITY, 0};
    for (int j = 0; j < top_k; ++j) {
      Best best = {-INFINITY, kExpertsMax};
      for (int i = 0; i < kPerLane; ++i) {
        const int expert = i * kWarp + lane_index();
        const bool is_free = expert < experts && (taken >> static_cast<unsigned>(i) & 1U) == 0;
        const float logit = logits[i] == logits[i] ? logits[i] : -INFINITY;
        const bool is_first = best.expert == kExpertsMax;
        if (is_free && (is_first || logit > best.logit)) best = {logit, expert};
      }
      best = warp_best(best);
      if (best.expert % kWarp == lane_index()) {
        taken |= 1U << static_cast<unsigned>(best.expert / kWarp);
      }
      if (j == lane_index()) own = best;
    }
    const bool is_chosen = lane_index() < top_k;
    const float of_largest = is_chosen ? expf(own.logit - largest) : 0.0F;
    const float sum_of_chosen = warp_reduce(of_largest);
    if (!is_chosen) return;
    float weight = 1.0F / (1.0F + expf(-own.logit));
    if (in.score == RouterScoreKind::softmax_of_all) weight = of_largest / sum;
    if (in.score == RouterScoreKind::softmax_of_chosen) weight = of_largest / sum_of_chosen;
    in.choices.row(token)[lane_index()] = own.expert;
    in.weights.row(token)[lane_index()] = weight;
  }
};

// With p the probabilities: dlogits = p (dp - sum p dp), and what the chosen weights add.
struct RouterBackwardKernel {
  static constexpr int kThreadsMax = kThreads;

  RouterBackward in;

  __device__ void operator()() const {
    const std::int64_t token = block_x() * kWarps + warp_index();
    if (token >= in.dlogits.rows) return;
    const int experts = static_cast<int>(in.dlogits.cols);
    const int top_k = static_cast<int>(in.choices.cols);
    const float* weights = in.weights.row(token);
    const float* dweights = in.dweights.row(token);
    float mean = 0;  // of dweights, weighted
    for (int j = 0; j < top_k; ++j) mean += weights[j] * dweights[j];
    float p[kPerLane];
    float dp[kPerLane];
    float chosen[kPerLane];
    float dot = 0;
    for (int i = 0; i < kPerLane; ++i) {
      const int expert = i * kWarp + lane_index();
      const bool is_one = expert < experts;
      p[i] = is_one ? in.probabilities.row(token)[expert] : 0.0F;
      dp[i] = is_one ? in.dprobability[expert] * in.dprobability_scale : 0.0F;
      chosen[i] = 0;
      for (int j = 0; j < top_k; ++j) {
        if (in.choices.row(token)[j] != expert) continue;
        if (in.score == RouterScoreKind::softmax_of_all) dp[i] += dweights[j];
        if (in.score == RouterScoreKind::softmax_of_chosen) {
          chosen[i] = weights[j] * (dweights[j] - mean);
        }
        if (in.score == RouterScoreKind::sigmoid) {
          chosen[i] = dweights[j] * weights[j] * (1.0F - weights[j]);
        }
      }
      dot += p[i] * dp[i];
    }
    dot = warp_reduce(dot);
    for (int i = 0; i < kPerLane; ++i) {
      const int expert = i * kWarp + lane_index();
      if (expert < experts) in.dlogits.row(token)[expert] = p[i] * (dp[i] - dot) + chosen[i];
    }
  }
};

struct ExpertLoadKernel {
  static constexpr int kThreadsMax = kExpertsMax;

  const std::int32_t* rows_of_expert;
  std::int64_t experts;
  float factor;
  const float* tokens_in;  // instead of rows_of_expert, where given
  float* out;

  __device__ void operator()() const {
    const int expert = thread_index();
    if (expert >= experts) return;
    const float tokens = tokens_in ? tokens_in[expert] : static_cast<float>(rows_of_expert[expert]);
    out[expert] = factor * tokens;
  }
};

struct AuxiliaryLossKernel {
  static constexpr int kThreadsMax = kThreads;

  Matrix<const float> probabilities;
  const float* dprobability;
  double* partials;

  __device__ void operator()() const {
    double sum = 0;
    for (std::int64_t row = block_x(); row < probabilities.rows; row += grid_x()) {
      for (std::int64_t e = thread_index(); e < probabilities.cols; e += thread_count()) {
        sum += static_cast<double>(probabilities.row(row)[e] * dprobability[e]);
      }
    }
    sum = block_reduce(sum);
    if (thread_index() == 0) partials[block_x()] = sum;
  }
};

void check_limits(std::int64_t experts, std::int64_t top_k) {
  if (experts <= kExpertsMax && top_k <= kChosenMax && top_k <= experts) return;
  throw std::invalid_argument("The router's kernel takes at most " + std::to_string(kExpertsMax) +
                              " experts and " + std::to_string(kChosenMax) +
                              " choices of a token, not " + std::to_string(experts) + " and " +
                              std::to_string(top_k) + ".");
}

}  // namespace

void router_forward(const RouterForward& operands, Stream stream) {
  check_limits(operands.logits.cols, operands.choices.cols);
  launch(RouterForwardKernel{operands}, {blocks_for(operands.logits.rows, kWarps)}, kThreads, 0,
         stream);
}

void router_backward(const RouterBackward& operands, Stream stream) {
  check_limits(operands.dlogits.cols, operands.choices.cols);
  launch(RouterBackwardKernel{operands}, {blocks_for(operands.dlogits.rows, kWarps)}, kThreads, 0,
         stream);
}

void expert_load(const std::int32_t* rows_of_expert, std::int64_t experts, float* tokens,
                 Stream stream) {
  check_limits(experts, 0);
  launch(ExpertLoadKernel{rows_of_expert, experts, 1.0F, nullptr, tokens}, {1}, kExpertsMax, 0,
         stream);
}

void auxiliary_gradient(float coefficient, std::int64_t token_count, std::int64_t top_k,
                        const float* tokens, std::int64_t experts, float* dprobability,
                        Stream stream) {
  check_limits(experts, top_k);
  const auto count = static_cast<double>(token_count);
  const double factor = static_cast<double>(coefficient) * static_cast<double>(experts) /
                        (static_cast<double>(top_k) * count * count);
  launch(ExpertLoadKernel{nullptr, experts, static_cast<float>(factor), tokens, dprobability}, {1},
         kExpertsMax, 0, stream);
}

void auxiliary_loss(Matrix<const float> probabilities, const float* dprobability, double* partials,
                    double* loss, Stream stream) {
  const std::int64_t blocks = partial_rows(probabilities.rows);
  launch(AuxiliaryLossKernel{probabilities, dprobability, partials}, {blocks}, kThreads, 0, stream);
  sum_values(partials, blocks, loss, false, stream);
}

}  // namespace llmb::runner::kernels
