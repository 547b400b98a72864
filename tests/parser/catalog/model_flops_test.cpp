// The documents' own worked examples, intermediate figures included. Where a document's
// intermediate figure is wrong the test holds the right one and says so.
#include "parser/catalog/model_flops.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

ModelShape grok1() {
  ModelShape shape;
  shape.layer_count = 64;
  shape.hidden_size = 6144;
  shape.attention_head_count = 48;
  shape.query_group_count = 8;
  shape.head_size = 128;
  shape.vocabulary_size = 128256;
  shape.sequence_length = 8192;
  shape.activation = Activation::geglu;
  shape.expert_count = 8;
  shape.experts_per_token = 2;
  shape.expert_ffn_hidden_size = 32768;
  return shape;
}

ModelShape maverick() {
  ModelShape shape;
  shape.layer_count = 48;
  shape.hidden_size = 5120;
  shape.attention_head_count = 40;
  shape.query_group_count = 8;
  shape.head_size = 128;
  shape.ffn_hidden_size = 16384;
  shape.vocabulary_size = 202048;
  shape.sequence_length = 8192;
  shape.expert_count = 128;
  shape.experts_per_token = 1;
  shape.expert_ffn_hidden_size = 8192;
  shape.shared_expert_ffn_hidden_size = 8192;
  shape.moe_layer_interval = 2;
  return shape;
}

ModelShape nemotron_15b() {
  ModelShape shape;
  shape.layer_count = 32;
  shape.hidden_size = 6144;
  shape.attention_head_count = 48;
  shape.query_group_count = 8;
  shape.head_size = 128;
  shape.ffn_hidden_size = 24576;
  shape.vocabulary_size = 256000;
  shape.sequence_length = 4096;
  shape.activation = Activation::squared_relu;
  shape.normalization = Normalization::layer_norm_1p;
  return shape;
}

// Grok-1 GB200/H100 document, "Notes".
TEST(ModelFlops, Grok1IsTheDocumentsExample) {
  const ModelFlops flops = model_flops_per_sequence(grok1(), FlopsFormula::recipe);
  EXPECT_DOUBLE_EQ(flops.attention / 8192, 53150220288.0);
  EXPECT_DOUBLE_EQ(flops.mlp / 8192, 463856467968.0);
  EXPECT_DOUBLE_EQ(flops.embedding / 8192, 4728029184.0);
  EXPECT_NEAR(flops.total(), 4.27e15, 0.005e15);
}

// Llama 4 Maverick document, "Notes". It prints 50665495805952 for the embedding, which is not
// what its own formula gives, and 247390116864000 and 593736279244800 for the other two, which
// are a little off as well; the sum rounds to the printed 8.92e14 all the same.
TEST(ModelFlops, MaverickIsTheDocumentsExample) {
  const ModelFlops flops = model_flops_per_sequence(maverick(), FlopsFormula::recipe);
  EXPECT_DOUBLE_EQ(flops.attention, 247390116249600.0);
  EXPECT_DOUBLE_EQ(flops.mlp, 593736278999040.0);
  EXPECT_DOUBLE_EQ(flops.embedding, 50847044075520.0);
  EXPECT_NEAR(flops.total(), 8.92e14, 0.005e14);
}

// Nemotron-4 document, "Notes". It prints 38666279738 for the attention, where its formula gives
// 38654705664; the sum rounds to the printed 434.5e12 all the same.
TEST(ModelFlops, Nemotron15bIsTheDocumentsExample) {
  const ModelFlops flops = model_flops_per_sequence(nemotron_15b(), FlopsFormula::recipe_2025_04);
  EXPECT_DOUBLE_EQ(flops.attention / 4096, 38654705664.0);
  EXPECT_DOUBLE_EQ(flops.mlp / 4096, 57982058496.0);
  EXPECT_DOUBLE_EQ(flops.embedding / 4096, 9437184000.0);
  EXPECT_NEAR(flops.total(), 434.5e12, 0.05e12);
}

// Nemotron-4's README of 25.05, "Notes": 93,994,352,640 a token, 3.85e14 a sequence.
TEST(ModelFlops, Nemotron15bWithFullAttentionIsTheLaterReadmes) {
  const ModelFlops flops =
      model_flops_per_sequence(nemotron_15b(), FlopsFormula::recipe_full_attention);
  EXPECT_DOUBLE_EQ(flops.attention / 4096, 26575110144.0);
  EXPECT_DOUBLE_EQ(flops.total() / 4096, 93994352640.0);
}

TEST(ModelFlops, Nemotron15bByMegatronsFormulaIsSmaller) {
  EXPECT_NEAR(model_flops_per_sequence(nemotron_15b(), FlopsFormula::megatron).total(), 3.652e14,
              0.0005e14);
}

TEST(ModelFlops, TheRecipesFormulaIsMegatronsWhereHeadsFillTheHiddenSize) {
  for (const ModelShape& shape : {grok1(), maverick(), nemotron_15b()}) {
    const double megatron = model_flops_per_sequence(shape, FlopsFormula::megatron).total();
    EXPECT_NEAR(model_flops_per_sequence(shape, FlopsFormula::recipe).total() / megatron, 1, 1e-12);
  }
}

TEST(ModelFlops, NamesSurviveTheRoundTrip) {
  for (const char* name : {"megatron", "recipe", "recipe-2025.04", "recipe-full-attention"}) {
    const auto formula = flops_formula_from_name(name);
    ASSERT_TRUE(formula) << name;
    EXPECT_EQ(flops_formula_name(*formula), name);
  }
  EXPECT_FALSE(flops_formula_from_name("mine"));
}

TEST(ParameterCount, MatchesTheModelsNames) {
  EXPECT_NEAR(static_cast<double>(parameter_count(grok1())), 314e9, 4e9);
  EXPECT_NEAR(static_cast<double>(parameter_count(maverick())), 400e9, 4e9);
  EXPECT_NEAR(static_cast<double>(active_parameter_count(maverick())), 17e9, 1e9);
  EXPECT_NEAR(static_cast<double>(parameter_count(nemotron_15b())), 15.6e9, 0.1e9);
}

}  // namespace
}  // namespace llmb::parser
