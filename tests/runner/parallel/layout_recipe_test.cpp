// Every row of every published configuration table, at every scale that it names: it makes a
// layout, or it is one of the impossible ones below, which say why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "runner/plan/layout_check.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {
namespace {

// A row that stands for a range is tested at its ends and the powers of two between.
std::vector<int> scales_of(const parser::Recipe& recipe) {
  std::vector<int> scales;
  for (std::int64_t scale = recipe.gpu_count_min; scale <= recipe.gpu_count_max; scale *= 2) {
    scales.push_back(static_cast<int>(scale));
  }
  return scales;
}

std::string name_of(const parser::Recipe& recipe, int scale) {
  return recipe.document + ":" + std::to_string(recipe.line) + "@" + std::to_string(scale);
}

// Where a row contradicts itself, and what the runner makes of it.
const std::map<std::string, std::string>& contradictory_rows() {
  static const std::map<std::string, std::string> rows = {
      {"grok1-24.11:4@8", "GA 128"},         // 1024 sequences over 2 replicas are 512 passes
      {"grok1-24.11:5@16", "GA 128"},        // … over 4 replicas 256
      {"llama4-25.05:19@512", "VP 12"},      // interleaves one stage
      {"nemotron4-25.04:21@256", "VP 12"},   // the recipe interleaves
      {"nemotron4-25.04:22@512", "VP 12"},   // the recipe interleaves
      {"nemotron4-25.04:23@1024", "VP 12"},  // the recipe interleaves
      {"nemotron4-25.04:24@2048", "VP 12"},  // the recipe interleaves
  };
  return rows;
}

TEST(RecipeLayout, EveryPublishedRowMakesALayout) {
  const parser::Catalog& catalog = parser::embedded_catalog();
  int tested = 0;
  for (const parser::Recipe& recipe : catalog.recipes) {
    const parser::Workload& workload = *catalog.workload(recipe.workload);
    for (const int scale : scales_of(recipe)) {
      SCOPED_TRACE(name_of(recipe, scale));
      std::vector<std::string> notes;
      const ParallelSizes sizes =
          recipe_sizes(recipe, catalog.document(recipe.document), scale, {}, notes);
      const auto layout = Layout::make(sizes, scale);
      ASSERT_TRUE(layout.has_value()) << layout.error().message;

      ShapeOverrides shape;
      shape.layer_count = recipe.layer_count;
      shape.sequence_length = recipe.sequence_length;
      const auto spec =
          make_model_spec(catalog.model(workload.family, recipe.model_size)->shape, shape);
      ASSERT_TRUE(spec.has_value()) << spec.error().message;
      const auto batch = recipe.global_batch_size.value(scale);
      ASSERT_TRUE(batch.has_value());
      EXPECT_THAT(check_layout(*spec, sizes, {recipe.micro_batch_size, *batch}),
                  testing::IsEmpty());

      const auto contradictory = contradictory_rows().find(name_of(recipe, scale));
      if (contradictory == contradictory_rows().end()) {
        EXPECT_THAT(notes, testing::IsEmpty());
      } else {
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_THAT(notes[0], testing::HasSubstr(contradictory->second));
      }
      ++tested;
    }
  }
  EXPECT_GE(tested, 60);
}

// The rows as a user asks for them.
TEST(RecipeLayout, TheCommandLineFindsTheRow) {
  Options options;
  options.workload = "pretrain_grok1";
  options.model_size = "314b";
  options.gpu_type = "h100";
  options.scale = 512;
  const auto settings = make_run_settings(options, parser::embedded_catalog());
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->sizes,
            (ParallelSizes{.tp = 4, .cp = 2, .dp = 8, .pp = 8, .vp = 8, .ep = 8, .etp = 1}));
  EXPECT_EQ(settings->recipe->document, "grok1-25.05");  // the newer of two
  EXPECT_EQ(settings->micro_batches(), 128);
  EXPECT_THAT(settings->spec.overrides, testing::IsEmpty());
}

TEST(RecipeLayout, TheOldRecipesProxiesKeepTheirLayers) {
  Options options;
  options.workload = "grok1";
  options.gpu_type = "h100";
  options.scale = 128;
  const auto settings = make_run_settings(options, parser::embedded_catalog());
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_THAT(settings->spec.overrides, testing::ElementsAre("layer_count 64 -> 16"));
  EXPECT_EQ(settings->sizes.etp, 4);
}

// Llama 3.1 405B: 126 layers over 64 chunks; embedding and head count as layers.
TEST(RecipeLayout, UnevenPipelinesGiveTheEndsOneLayer) {
  Options options;
  options.workload = "pretrain_llama3.1";
  options.model_size = "405b";
  options.dtype = "fp8";
  options.scale = 1024;
  const auto settings = make_run_settings(options, parser::embedded_catalog());
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(layers_of(settings->sizes, 126, 0, 0).size(), 1);
  EXPECT_EQ(layers_of(settings->sizes, 126, 3, 4).size(), 2);
}

std::string refusal(const std::function<void(Options&)>& change) {
  Options options;
  options.workload = "pretrain_grok1";
  options.model_size = "314b";
  options.gpu_type = "h100";
  options.scale = 512;
  options.backend = Backend::cuda;
  change(options);
  const auto settings = make_run_settings(options, parser::embedded_catalog());
  return settings ? "accepted" : settings.error().message;
}

TEST(RunSettings, RefusesContradictionsWithWhatWouldFit) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](Options& o) { o.tp = 3; }), HasSubstr("multiple of 48"));
  EXPECT_THAT(refusal([](Options& o) { o.tp = 16; }), HasSubstr("8 key/value heads"));
  EXPECT_THAT(refusal([](Options& o) { o.virtual_ranks = 8; }), HasSubstr("disagree"));
  EXPECT_THAT(refusal([](Options& o) { o.global_batch_size = 1000; }),
              HasSubstr("do not divide into those; a global batch that is a multiple of 64"));
  EXPECT_THAT(refusal([](Options& o) { o.ep = 3; }), HasSubstr("must divide 64"));
  EXPECT_THAT(refusal([](Options& o) { o.shape.layer_count = 63; }), HasSubstr("63 layers"));
  EXPECT_THAT(refusal([](Options& o) { o.shape.sequence_length = 8190; }), HasSubstr("2 x cp = 4"));
  EXPECT_THAT(refusal([](Options& o) { o.scale.reset(); }), HasSubstr("JOB_TOTAL_GPUS"));
  EXPECT_THAT(refusal([](Options& o) {
                o.enable_profile = true;
                o.profile_start_step = 60;
              }),
              HasSubstr("of a run of 50 steps"));
}

TEST(RunSettings, StepsFollowTheRecipes) {
  const auto steps = [](const std::function<void(Options&)>& change) {
    Options options;
    options.workload = "pretrain_nemotron4";
    options.model_size = "15b";
    options.scale = 16;
    change(options);
    return *make_run_settings(options, parser::embedded_catalog());
  };
  EXPECT_EQ(steps([](Options&) {}).step_count, 50);
  EXPECT_EQ(steps([](Options& o) { o.load_checkpoint_path = "saved"; }).step_count, 1);
  const RunSettings profiled = steps([](Options& o) { o.enable_profile = true; });
  EXPECT_EQ(profiled.step_count, 25);
  EXPECT_EQ(profiled.profile_start_step, 20);
  EXPECT_EQ(profiled.profile_stop_step, 25);
}

}  // namespace
}  // namespace llmb::runner
