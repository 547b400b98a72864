// Model FLOPs: how many floating-point operations one training step needs by definition, whatever
// the hardware does (recomputation does not count). A fused multiply-add is two operations; the
// backward pass costs twice the forward one. Each result names its formula.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parser/catalog/model_shape.h"

namespace llmb::parser {

enum class FlopsFormula {
  // Megatron: 6 per active weight and token, and causal attention's two products counted half.
  megatron,
  // The recipe documents since 2025-05 (Grok-1 GB200/H100 and Llama 4 Maverick, "Notes"):
  //   attention 12 L h^2 (1 + g/n + s/(2h)),  mlp 18 L h f k,  embedding 6 V h, per token.
  // The same as Megatron's wherever heads * head_size = h, which a test holds.
  recipe,
  // The Nemotron-4 document of 25.04 ("Notes"): no grouped queries, attention in full, and
  //   attention 24 L h^2 + 12 L h s,  mlp 48 L h^2,  embedding 6 V h, per token.
  recipe_2025_04,
  // The READMEs of Llama 3.1 of 24.11.1 to 25.05 and of Nemotron-4 since 25.04.01 ("Notes"), and
  // what NeMo 2 logs as TFLOPS_per_GPU: as `recipe`, with attention in full, not causal:
  //   attention 12 L h^2 (1 + g/n + s/h), per token.
  recipe_full_attention,
};
std::string_view flops_formula_name(FlopsFormula formula);  // "megatron", "recipe", …
std::optional<FlopsFormula> flops_formula_from_name(std::string_view name);

struct ModelFlops {
  // FLOP for one sequence of shape.sequence_length tokens, forward and backward.
  double attention = 0;
  double mlp = 0;
  double embedding = 0;  // the head's matrix product
  double total() const { return attention + mlp + embedding; }
};

ModelFlops model_flops_per_sequence(const ModelShape& shape, FlopsFormula formula);

}  // namespace llmb::parser
