// ModelShape: what a model is made of, as far as FLOPs, memory and the step runner need it.
// Dimensions count elements. Values: the catalog's recipes.json, each with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace llmb::parser {

enum class Activation { swiglu, geglu, squared_relu };
enum class Normalization { rms_norm, layer_norm_1p };

struct ModelShape {
  std::string family;  // "grok1", "llama3.1", "llama4_maverick", "nemotron4"
  std::string size;    // "314b", "8b" …
  std::int64_t layer_count = 0;
  std::int64_t hidden_size = 0;
  std::int64_t attention_head_count = 0;
  std::int64_t query_group_count = 0;  // key/value heads: grouped-query attention
  std::int64_t head_size = 0;          // per head; heads * head_size need not be hidden_size
  std::int64_t ffn_hidden_size = 0;    // of a dense layer
  std::int64_t vocabulary_size = 0;
  std::int64_t sequence_length = 0;  // of the recipe
  Activation activation = Activation::swiglu;
  Normalization normalization = Normalization::rms_norm;
  bool tied_embeddings = false;
  double rotary_fraction = 1.0;  // share of a head that RoPE turns
  double rotary_base = 1e4;
  // Llama 3.1's scaling of RoPE for long contexts; factor 1: none. See runner/cpu/rope.h.
  double rotary_scaling_factor = 1.0;
  double rotary_low_frequency_factor = 1.0;
  double rotary_high_frequency_factor = 4.0;
  std::int64_t rotary_original_length = 8192;
  std::int64_t rotary_skip_interval = 0;  // every n-th layer is without RoPE (NoPE); 0: none is
  // In layers with RoPE a token sees only its own chunk of so many positions; 0: all before it.
  std::int64_t attention_chunk_size = 0;

  // Mixture of experts; expert_count 0 means dense.
  std::int64_t expert_count = 0;
  std::int64_t experts_per_token = 0;       // top-k
  std::int64_t expert_ffn_hidden_size = 0;  // of one expert
  std::int64_t shared_expert_ffn_hidden_size = 0;
  std::int64_t moe_layer_interval = 1;  // every n-th layer is MoE, the others dense

  bool operator==(const ModelShape&) const = default;
};

// Whether the layer's MLP is a mixture of experts: the last of every moe_layer_interval layers.
bool is_moe_layer(const ModelShape& shape, std::int64_t layer);
// Whether RoPE turns the layer's queries and keys: all but the last of every rotary_skip_interval.
bool is_rotary_layer(const ModelShape& shape, std::int64_t layer);

// All weights, embeddings and head included.
std::int64_t parameter_count(const ModelShape& shape);
// Weights that one token passes through: of the experts only the chosen ones.
std::int64_t active_parameter_count(const ModelShape& shape);

}  // namespace llmb::parser
