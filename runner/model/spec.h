// ModelSpec: the model that is trained: a shape of the catalog with this run's overrides on it.
// Dimensions count elements. The words of a refusal say what would fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/catalog/model_shape.h"
#include "parser/result.h"

namespace llmb::runner {

using parser::Activation;
using parser::ModelShape;
using parser::Normalization;
using parser::Result;

// What a run may change of the published shape. Nothing set: as published.
struct ShapeOverrides {
  std::optional<std::int64_t> layer_count;
  std::optional<std::int64_t> hidden_size;
  std::optional<std::int64_t> attention_head_count;
  std::optional<std::int64_t> query_group_count;
  std::optional<std::int64_t> head_size;
  std::optional<std::int64_t> ffn_hidden_size;
  std::optional<std::int64_t> vocabulary_size;
  std::optional<std::int64_t> sequence_length;
  std::optional<std::int64_t> expert_count;
  std::optional<std::int64_t> experts_per_token;
  std::optional<std::int64_t> expert_ffn_hidden_size;
  std::optional<std::int64_t> shared_expert_ffn_hidden_size;
};

struct ModelSpec {
  ModelShape shape;
  // "layer_count 64 -> 2", in the order of ShapeOverrides; empty for the published model.
  std::vector<std::string> overrides;
  // Of the router's load-balancing loss (Megatron's --moe-aux-loss-coeff); 0 where there is none.
  double auxiliary_loss_coefficient = 0;
  double norm_epsilon = 1e-5;
  double initial_std = 0.02;  // of every matrix; those that end a residual branch: / sqrt(2 layers)

  bool is_moe() const { return shape.expert_count > 0; }
  bool is_moe_layer(std::int64_t layer) const { return parser::is_moe_layer(shape, layer); }
  bool is_rotary_layer(std::int64_t layer) const { return parser::is_rotary_layer(shape, layer); }
  // Gated activations multiply two projections: fc1 holds gate and up.
  bool is_gated() const { return shape.activation != Activation::squared_relu; }
  bool norm_has_bias() const { return shape.normalization == Normalization::layer_norm_1p; }
  std::int64_t query_size() const { return shape.attention_head_count * shape.head_size; }
  std::int64_t key_value_size() const { return shape.query_group_count * shape.head_size; }
};

// Refused: what contradicts itself (heads that groups do not divide, top-k over the experts, …).
Result<ModelSpec> make_model_spec(const ModelShape& published, const ShapeOverrides& overrides);

// By workload ("pretrain_grok1" or an alias) and size ("314b"). Refused with what the catalog has.
Result<const parser::Model*> find_model(const parser::Catalog& catalog, std::string_view workload,
                                        std::string_view size);

std::string_view activation_name(Activation activation);           // "swiglu"
std::string_view normalization_name(Normalization normalization);  // "rms_norm"

}  // namespace llmb::runner
