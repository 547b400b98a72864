// One model of every family, small enough to train in a test, and divisible by every parallel
// size up to four: four layers, hidden 32, eight heads on four key/value heads.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "parser/catalog/catalog.h"
#include "runner/model/spec.h"

namespace llmb::runner {

inline ModelSpec tiny_model(std::string_view workload, std::string_view size,
                            const ShapeOverrides& more = {}) {
  static const parser::Catalog& catalog = parser::embedded_catalog();
  const auto model = find_model(catalog, workload, size);
  if (!model) throw std::invalid_argument(model.error().message);
  ShapeOverrides overrides = more;
  const auto set = [](std::optional<std::int64_t>& value, std::int64_t to) {
    if (!value) value = to;
  };
  set(overrides.layer_count, 4);
  set(overrides.hidden_size, 32);
  set(overrides.attention_head_count, 8);
  set(overrides.query_group_count, 4);
  set(overrides.head_size, 4);
  set(overrides.vocabulary_size, 64);
  set(overrides.sequence_length, 16);
  if ((*model)->shape.ffn_hidden_size > 0) set(overrides.ffn_hidden_size, 48);
  if ((*model)->shape.expert_count > 0) {
    set(overrides.expert_count, 4);
    set(overrides.expert_ffn_hidden_size, 24);
  }
  if ((*model)->shape.shared_expert_ffn_hidden_size > 0) {
    set(overrides.shared_expert_ffn_hidden_size, 24);
  }
  auto spec = make_model_spec((*model)->shape, overrides);
  if (!spec) throw std::invalid_argument(spec.error().message);
  return *spec;
}

inline ModelSpec tiny_grok() {
  return tiny_model("pretrain_grok1", "314b");
}
inline ModelSpec tiny_llama() {
  return tiny_model("pretrain_llama3.1", "8b");
}
inline ModelSpec tiny_maverick() {
  return tiny_model("pretrain_llama4_maverick", "400b");
}
inline ModelSpec tiny_nemotron() {
  return tiny_model("pretrain_nemotron4", "15b");
}

}  // namespace llmb::runner
