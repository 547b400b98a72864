#include "runner/model/spec.h"

namespace llmb::runner {
namespace {

constexpr double kAuxiliaryLossCoefficient = 1e-2;  // as the recipes' MoE models train

struct Change {
  const char* name;
  std::int64_t ModelShape::*field;
  std::optional<std::int64_t> ShapeOverrides::*override_field;
};

constexpr Change kChanges[] = {
    {"layer_count", &ModelShape::layer_count, &ShapeOverrides::layer_count},
    {"hidden_size", &ModelShape::hidden_size, &ShapeOverrides::hidden_size},
    {"attention_head_count", &ModelShape::attention_head_count,
     &ShapeOverrides::attention_head_count},
    {"query_group_count", &ModelShape::query_group_count, &ShapeOverrides::query_group_count},
    {"head_size", &ModelShape::head_size, &ShapeOverrides::head_size},
    {"ffn_hidden_size", &ModelShape::ffn_hidden_size, &ShapeOverrides::ffn_hidden_size},
    {"vocabulary_size", &ModelShape::vocabulary_size, &ShapeOverrides::vocabulary_size},
    {"sequence_length", &ModelShape::sequence_length, &ShapeOverrides::sequence_length},
    {"expert_count", &ModelShape::expert_count, &ShapeOverrides::expert_count},
    {"experts_per_token", &ModelShape::experts_per_token, &ShapeOverrides::experts_per_token},
    {"expert_ffn_hidden_size", &ModelShape::expert_ffn_hidden_size,
     &ShapeOverrides::expert_ffn_hidden_size},
    {"shared_expert_ffn_hidden_size", &ModelShape::shared_expert_ffn_hidden_size,
     &ShapeOverrides::shared_expert_ffn_hidden_size},
};

std::string number_text(std::int64_t value) {
  return std::to_string(value);
}

bool has_dense_layer(const ModelShape& shape) {
  for (std::int64_t layer = 0; layer < shape.layer_count; ++layer) {
    if (!parser::is_moe_layer(shape, layer)) return true;
  }
  return false;
}

// Empty where the shape can be trained.
std::string contradiction(const ModelShape& shape) {
  if (shape.attention_head_count % shape.query_group_count != 0) {
    return number_text(shape.attention_head_count) + " attention heads do not divide into " +
           number_text(shape.query_group_count) + " key/value heads";
  }
  if (shape.head_size % 2 != 0) {
    return "a head size of " + number_text(shape.head_size) + " is odd, and RoPE turns pairs";
  }
  if (shape.experts_per_token > shape.expert_count) {
    return "a token cannot choose " + number_text(shape.experts_per_token) + " of " +
           number_text(shape.expert_count) + " experts";
  }
  if (has_dense_layer(shape) && shape.ffn_hidden_size < 1) {
    return "dense layers need an FFN hidden size; give one, or keep the experts";
  }
  return "";
}

std::string known_sizes(const parser::Catalog& catalog, std::string_view family) {
  std::string sizes;
  for (const parser::Model& model : catalog.models) {
    if (model.shape.family != family) continue;
    sizes += (sizes.empty() ? "" : ", ") + model.shape.size;
  }
  return sizes;
}

}  // namespace

Result<ModelSpec> make_model_spec(const ModelShape& published, const ShapeOverrides& overrides) {
  ModelSpec spec;
  spec.shape = published;
  for (const Change& change : kChanges) {
    const std::optional<std::int64_t>& wanted = overrides.*change.override_field;
    if (!wanted || *wanted == published.*change.field) continue;
    const bool may_be_zero = change.field == &ModelShape::shared_expert_ffn_hidden_size;
    if (*wanted < (may_be_zero ? 0 : 1)) {
      return parser::fail(std::string(change.name) + " is " + number_text(*wanted) +
                          "; it counts something, so at least 1 is needed");
    }
    const bool is_of_experts = std::string_view(change.name).find("expert") != std::string::npos;
    if (is_of_experts && published.expert_count == 0) {
      return parser::fail(std::string(change.name) + " is given, but " + published.family + " " +
                          published.size + " is dense: it has no experts");
    }
    spec.shape.*change.field = *wanted;
    spec.overrides.push_back(std::string(change.name) + " " + number_text(published.*change.field) +
                             " -> " + number_text(*wanted));
  }
  const std::string wrong = contradiction(spec.shape);
  if (!wrong.empty()) return parser::fail(wrong);
  if (spec.is_moe()) spec.auxiliary_loss_coefficient = kAuxiliaryLossCoefficient;
  return spec;
}

Result<const parser::Model*> find_model(const parser::Catalog& catalog, std::string_view workload,
                                        std::string_view size) {
  const parser::Workload* const found = catalog.workload(workload);
  if (found == nullptr) {
    std::string names;
    for (const parser::Workload& known : catalog.workloads) {
      names += (names.empty() ? "" : ", ") + known.workload;
    }
    return parser::fail("unknown workload '" + std::string(workload) + "'; known: " + names);
  }
  const parser::Model* const model = catalog.model(found->family, size);
  if (model == nullptr) {
    return parser::fail(found->workload + " has no size '" + std::string(size) +
                        "'; sizes: " + known_sizes(catalog, found->family));
  }
  return model;
}

std::string_view activation_name(Activation activation) {
  switch (activation) {
    case Activation::swiglu:
      return "swiglu";
    case Activation::geglu:
      return "geglu";
    case Activation::squared_relu:
      return "squared_relu";
  }
  return "swiglu";
}

std::string_view normalization_name(Normalization normalization) {
  return normalization == Normalization::rms_norm ? "rms_norm" : "layer_norm_1p";
}

}  // namespace llmb::runner
