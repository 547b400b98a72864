// Model FLOPs: how many floating-point operations one training step needs by definition, whatever
// the hardware does (recomputation does not count). Three published formulas; each result names
// its own. A fused multiply-add is two operations; forward, and backward at twice its cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parser/catalog/model_shape.h"

namespace llmb::parser {

enum class FlopsFormula {
  // Megatron: 6 per active weight and token, causal attention counted half.
  megatron,
  // The recipe documents since 2025-05 (Grok-1 GB200/H100, Llama 4 Maverick, Notes section):
  // GQA counted, attention's sequence term counted in full, gated MLP of three matrices.
  recipe,
  // The Nemotron-4 document of 25.04: no GQA, two-matrix MLP of width 4h, attention in full.
  recipe_2025_04,
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
