#include "runner/model/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/model/parameters.h"

namespace llmb::runner {
namespace {

using ::testing::HasSubstr;

const parser::Model& published(std::string_view workload, std::string_view size) {
  return **find_model(parser::embedded_catalog(), workload, size);
}

TEST(ModelSpec, ParametersAddUpToTheCatalogsCountForEveryModel) {
  for (const parser::Model& model : parser::embedded_catalog().models) {
    const auto spec = make_model_spec(model.shape, {});
    ASSERT_TRUE(spec.has_value()) << spec.error().message;
    std::int64_t elements = 0;
    for (const Parameter& parameter : model_parameters(*spec)) {
      elements += parameter.element_count();
    }
    EXPECT_EQ(elements, parser::parameter_count(model.shape))
        << model.shape.family << " " << model.shape.size;
  }
}

TEST(ModelSpec, AppliesOverridesAndNamesThem) {
  ShapeOverrides overrides;
  overrides.layer_count = 2;
  overrides.expert_count = 4;
  overrides.head_size = 128;  // as published: no change
  const auto spec = make_model_spec(published("grok1", "314b").shape, overrides);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->shape.layer_count, 2);
  EXPECT_THAT(spec->overrides,
              ::testing::ElementsAre("layer_count 64 -> 2", "expert_count 8 -> 4"));
}

// As the models were published: Llama 3.1 scales RoPE by 8 over 8192 positions; Llama 4 Maverick
// leaves it out of every fourth layer, has chunks of 8192 in the others, and experts in every
// second layer, the first being dense.
TEST(ModelSpec, HasThePublishedPositionsAndExperts) {
  for (const char* size : {"8b", "70b", "405b"}) {
    const ModelShape& llama = published("llama3.1", size).shape;
    EXPECT_EQ(llama.rotary_scaling_factor, 8);
    EXPECT_EQ(llama.rotary_low_frequency_factor, 1);
    EXPECT_EQ(llama.rotary_high_frequency_factor, 4);
    EXPECT_EQ(llama.rotary_original_length, 8192);
  }
  const auto maverick = make_model_spec(published("llama4", "400b").shape, {});
  EXPECT_EQ(maverick->shape.rotary_scaling_factor, 1);
  EXPECT_EQ(maverick->shape.attention_chunk_size, 8192);
  int moe_layers = 0;
  int layers_without_rope = 0;
  for (std::int64_t layer = 0; layer < 48; ++layer) {
    EXPECT_EQ(maverick->is_moe_layer(layer), layer % 2 == 1) << layer;
    EXPECT_EQ(maverick->is_rotary_layer(layer), layer % 4 != 3) << layer;
    moe_layers += maverick->is_moe_layer(layer) ? 1 : 0;
    layers_without_rope += maverick->is_rotary_layer(layer) ? 0 : 1;
  }
  EXPECT_EQ(moe_layers, 24);
  EXPECT_EQ(layers_without_rope, 12);
  EXPECT_EQ(published("grok1", "314b").shape.rotary_scaling_factor, 1);
  EXPECT_EQ(published("nemotron4", "15b").shape.rotary_skip_interval, 0);
}

TEST(ModelSpec, RefusesWhatContradictsItself) {
  const auto refusal = [](std::string_view workload, std::string_view size, auto change) {
    ShapeOverrides overrides;
    change(overrides);
    const auto spec = make_model_spec(published(workload, size).shape, overrides);
    return spec ? std::string("accepted") : spec.error().message;
  };
  EXPECT_THAT(refusal("llama3.1", "8b", [](auto& o) { o.expert_count = 8; }),
              HasSubstr("is dense"));
  EXPECT_THAT(refusal("llama3.1", "8b", [](auto& o) { o.query_group_count = 5; }),
              HasSubstr("32 attention heads do not divide into 5"));
  EXPECT_THAT(refusal("grok1", "314b", [](auto& o) { o.expert_count = 1; }),
              HasSubstr("cannot choose 2 of 1"));
  EXPECT_THAT(refusal("grok1", "314b", [](auto& o) { o.layer_count = 0; }),
              HasSubstr("at least 1"));
  EXPECT_THAT(refusal("grok1", "314b", [](auto& o) { o.head_size = 7; }), HasSubstr("odd"));
}

TEST(ModelSpec, UnknownNamesAreAnsweredWithTheKnownOnes) {
  const parser::Catalog& catalog = parser::embedded_catalog();
  EXPECT_THAT(find_model(catalog, "pretrain_gpt", "1b").error().message,
              HasSubstr("pretrain_grok1, pretrain_llama3.1"));
  EXPECT_THAT(find_model(catalog, "pretrain_llama3.1", "7b").error().message,
              HasSubstr("8b, 70b, 405b"));
}

TEST(Parameters, EveryFamilyHasItsOwn) {
  const auto names_of = [](std::string_view workload, std::string_view size, std::int64_t layer) {
    std::vector<std::string> names;
    const auto spec = make_model_spec(published(workload, size).shape, {});
    for (const Parameter& parameter : layer_parameters(*spec, layer)) {
      names.push_back(parameter.name);
    }
    return names;
  };
  EXPECT_THAT(names_of("grok1", "314b", 3),
              ::testing::ElementsAre("layers.3.input_norm.weight", "layers.3.attention.qkv.weight",
                                     "layers.3.attention.out.weight", "layers.3.mlp_norm.weight",
                                     "layers.3.router.weight", "layers.3.experts.fc1.weight",
                                     "layers.3.experts.fc2.weight"));
  EXPECT_THAT(names_of("llama4", "400b", 0), ::testing::Contains("layers.0.mlp.fc1.weight"));
  EXPECT_THAT(names_of("llama4", "400b", 1),
              ::testing::Contains("layers.1.shared_expert.fc1.weight"));
  EXPECT_THAT(names_of("nemotron4", "15b", 0), ::testing::Contains("layers.0.mlp_norm.bias"));
}

TEST(Parameters, LocalShapesCutTheRightAxes) {
  const auto spec = make_model_spec(published("grok1", "314b").shape, {});
  for (const Parameter& parameter : layer_parameters(*spec, 0)) {
    const auto local = local_shape(parameter, 4, 2, 8);
    if (parameter.name == "layers.0.experts.fc1.weight") {
      EXPECT_EQ(local, (std::vector<std::int64_t>{1, 2, 32768 / 2, 6144}));
    } else if (parameter.name == "layers.0.experts.fc2.weight") {
      EXPECT_EQ(local, (std::vector<std::int64_t>{1, 6144, 32768 / 2}));
    } else if (parameter.name == "layers.0.attention.qkv.weight") {
      EXPECT_EQ(local, (std::vector<std::int64_t>{(48 + 16) * 128 / 4, 6144}));
    } else if (parameter.name == "layers.0.attention.out.weight") {
      EXPECT_EQ(local, (std::vector<std::int64_t>{6144, 6144 / 4}));
    } else {
      EXPECT_EQ(local, parameter.shape) << parameter.name;
    }
  }
  EXPECT_THROW(local_shape(layer_parameters(*spec, 0)[1], 3, 1, 1), std::invalid_argument);
}

}  // namespace
}  // namespace llmb::runner
