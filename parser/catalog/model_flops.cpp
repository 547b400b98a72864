#include "parser/catalog/model_flops.h"

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t mlp_matrix_count(const ModelShape& shape) {
  return shape.activation == Activation::squared_relu ? 2 : 3;  // gated: gate, up, down
}

std::int64_t attention_weights(const ModelShape& shape) {
  const std::int64_t query = shape.attention_head_count * shape.head_size;
  const std::int64_t key_value = shape.query_group_count * shape.head_size;
  return shape.hidden_size * (2 * query + 2 * key_value);
}

// Width of all MLPs that one token passes through, summed over the layers.
std::int64_t active_mlp_width(const ModelShape& shape) {
  std::int64_t width = 0;
  for (std::int64_t layer = 0; layer < shape.layer_count; ++layer) {
    width += is_moe_layer(shape, layer) ? shape.experts_per_token * shape.expert_ffn_hidden_size +
                                              shape.shared_expert_ffn_hidden_size
                                        : shape.ffn_hidden_size;
  }
  return width;
}

// Weights outside attention and MLP matrices: embeddings, head, norms, routers.
std::int64_t other_weights(const ModelShape& shape) {
  const std::int64_t tables = shape.tied_embeddings ? 1 : 2;
  const std::int64_t per_norm = shape.normalization == Normalization::layer_norm_1p
                                    ? 2 * shape.hidden_size
                                    : shape.hidden_size;
  std::int64_t routers = 0;
  for (std::int64_t layer = 0; layer < shape.layer_count; ++layer) {
    if (is_moe_layer(shape, layer)) routers += shape.hidden_size * shape.expert_count;
  }
  return tables * shape.vocabulary_size * shape.hidden_size +
         (2 * shape.layer_count + 1) * per_norm + routers;
}

// Attention's two products (scores, and values weighted by them), forward and backward, per token.
double attention_products(const ModelShape& shape) {
  return 12.0 * as_double(shape.layer_count) *
         as_double(shape.attention_head_count * shape.head_size) * as_double(shape.sequence_length);
}

ModelFlops per_token(const ModelShape& shape, FlopsFormula formula) {
  const double layers = as_double(shape.layer_count);
  const double hidden = as_double(shape.hidden_size);
  const double sequence = as_double(shape.sequence_length);
  ModelFlops flops;
  flops.embedding = 6 * as_double(shape.vocabulary_size) * hidden;
  if (formula == FlopsFormula::recipe_2025_04) {
    flops.attention = 24 * layers * hidden * hidden + 12 * layers * hidden * sequence;
    flops.mlp = 48 * layers * hidden * hidden;
    return flops;
  }
  flops.mlp = 6 * as_double(mlp_matrix_count(shape)) * hidden * as_double(active_mlp_width(shape));
  if (formula == FlopsFormula::recipe || formula == FlopsFormula::recipe_full_attention) {
    const double groups_per_head =
        as_double(shape.query_group_count) / as_double(shape.attention_head_count);
    const double counted = formula == FlopsFormula::recipe ? 0.5 : 1;
    flops.attention =
        12 * layers * hidden * hidden * (1 + groups_per_head + counted * sequence / hidden);
  } else {
    flops.attention =
        6 * layers * as_double(attention_weights(shape)) + attention_products(shape) / 2;
  }
  return flops;
}

constexpr auto kFormulas = name_table<FlopsFormula>({
    {FlopsFormula::megatron, "megatron"},
    {FlopsFormula::recipe, "recipe"},
    {FlopsFormula::recipe_2025_04, "recipe-2025.04"},
    {FlopsFormula::recipe_full_attention, "recipe-full-attention"},
});

}  // namespace

bool is_moe_layer(const ModelShape& shape, std::int64_t layer) {
  return shape.expert_count > 0 && (layer + 1) % shape.moe_layer_interval == 0;
}

bool is_rotary_layer(const ModelShape& shape, std::int64_t layer) {
  return shape.rotary_skip_interval == 0 || (layer + 1) % shape.rotary_skip_interval != 0;
}

std::string_view flops_formula_name(FlopsFormula formula) {
  return kFormulas.name(formula);
}

std::optional<FlopsFormula> flops_formula_from_name(std::string_view name) {
  return kFormulas.value(name);
}

ModelFlops model_flops_per_sequence(const ModelShape& shape, FlopsFormula formula) {
  ModelFlops flops = per_token(shape, formula);
  const double tokens = as_double(shape.sequence_length);
  flops.attention *= tokens;
  flops.mlp *= tokens;
  flops.embedding *= tokens;
  return flops;
}

std::int64_t parameter_count(const ModelShape& shape) {
  std::int64_t mlp_width = 0;
  for (std::int64_t layer = 0; layer < shape.layer_count; ++layer) {
    mlp_width += is_moe_layer(shape, layer) ? shape.expert_count * shape.expert_ffn_hidden_size +
                                                  shape.shared_expert_ffn_hidden_size
                                            : shape.ffn_hidden_size;
  }
  return shape.layer_count * attention_weights(shape) +
         mlp_matrix_count(shape) * shape.hidden_size * mlp_width + other_weights(shape);
}

std::int64_t active_parameter_count(const ModelShape& shape) {
  return shape.layer_count * attention_weights(shape) +
         mlp_matrix_count(shape) * shape.hidden_size * active_mlp_width(shape) +
         other_weights(shape);
}

}  // namespace llmb::parser
