// Router: which experts each token goes to, with what weight, and the auxiliary loss that keeps
// their load balanced, as runner/cpu/router.h has them. All fp32. A tie goes to the expert with the
// lower number. At most 256 experts, 32 chosen ones. Moves 4 n experts bytes a matrix.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

inline constexpr int kExpertsMax = 256;
inline constexpr int kChosenMax = 32;

enum class RouterScoreKind : std::uint8_t { softmax_of_all, softmax_of_chosen, sigmoid };

// Throws std::invalid_argument above the limits, here and in backward.
struct RouterForward {
  RouterScoreKind score;
  Matrix<const float> logits;    // (n, experts)
  Matrix<float> probabilities;   // (n, experts): softmax over all
  Matrix<std::int32_t> choices;  // (n, k), best first
  Matrix<float> weights;         // (n, k)
};
void router_forward(const RouterForward& operands, Stream stream);

struct RouterBackward {
  RouterScoreKind score;
  Matrix<const float> probabilities;
  Matrix<const std::int32_t> choices;
  Matrix<const float> weights;
  Matrix<const float> dweights;  // (n, k)
  const float* dprobability;     // (experts), the same for every token
  float dprobability_scale;      // multiplies it
  Matrix<float> dlogits;         // (n, experts), overwritten
};
void router_backward(const RouterBackward& operands, Stream stream);

// rows_of_expert (experts), of ExpertOrder -> tokens (experts), as floats, for a sum over ranks
void expert_load(const std::int32_t* rows_of_expert, std::int64_t experts, float* tokens,
                 Stream stream);

// tokens (experts) of the whole micro-batch -> dprobability (experts):
// coefficient * experts / (k T^2) * tokens, T being token_count
void auxiliary_gradient(float coefficient, std::int64_t token_count, std::int64_t top_k,
                        const float* tokens, std::int64_t experts, float* dprobability,
                        Stream stream);

// *loss = sum of probabilities (n, experts) times dprobability (experts): this rank's part.
// partials (256) is workspace.
void auxiliary_loss(Matrix<const float> probabilities, const float* dprobability, double* partials,
                    double* loss, Stream stream);

}  // namespace llmb::runner::kernels
