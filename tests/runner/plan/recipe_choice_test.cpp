// What the documents' launch commands mean, in their own words, and what is refused.
#include "runner/plan/recipe_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/plan/run_settings.h"

namespace llmb::runner {
namespace {

using testing::Contains;
using testing::HasSubstr;

parser::Result<RunSettings> settings_of(std::vector<std::string> arguments,
                                        const Environment& environment = {}) {
  arguments.emplace_back("--dry-run");
  const ParsedOptions parsed = parse_options(arguments, environment);
  EXPECT_FALSE(parsed.exit_code) << parsed.text;
  return make_run_settings(parsed.options, parser::embedded_catalog());
}

std::string refusal(const std::vector<std::string>& arguments) {
  const auto settings = settings_of(arguments);
  return settings ? "accepted" : settings.error().message;
}

// Grok-1, 25.05: "MODEL_SIZE: Model variant (fixed: 314b)", "GPU_TYPE: (fixed: gb200)", and
// `JOB_TOTAL_GPUS=128 DTYPE=fp8 ./launch.sh` is "FP8 precision on 128 GB200 GPUs".
TEST(RecipeChoice, Grok1sFixedSizeAndGpuTypeNeedNotBeGiven) {
  const auto settings =
      settings_of({"-w", "pretrain_grok1"}, {{"JOB_TOTAL_GPUS", "128"}, {"DTYPE", "fp8"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->gpu_type, "gb200");
  ASSERT_NE(settings->recipe, nullptr);
  EXPECT_EQ(settings->recipe->document, "grok1-25.05");
  EXPECT_EQ(settings->precision, Precision::fp8_current);
  EXPECT_EQ(settings->spec.shape.layer_count, 64);
  EXPECT_THAT(settings->notes, Contains("no GPU type was given: gb200"));
}

// Llama 3.1, 25.10: "MODEL_SIZE: Model variant (default: 405b)", and
// `JOB_TOTAL_GPUS=128 GPU_TYPE=gb200 ./launch.sh` is "405B with FP8 precision on 128 GB200 GPUs".
TEST(RecipeChoice, Llama31MeansIts405bInFp8) {
  const auto settings =
      settings_of({"-w", "pretrain_llama3.1"}, {{"JOB_TOTAL_GPUS", "128"}, {"GPU_TYPE", "gb200"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->spec.shape.size, "405b");
  EXPECT_EQ(settings->precision, Precision::fp8_current);
  EXPECT_THAT(settings->notes, Contains(HasSubstr("no precision was given: fp8")));
}

// Llama 4: "DTYPE: Precision format (default: bf16)", "MODEL_SIZE: (fixed: 400b)".
TEST(RecipeChoice, Llama4MeansIts400bInBf16) {
  const auto settings = settings_of({"-w", "pretrain_llama4_maverick"},
                                    {{"JOB_TOTAL_GPUS", "256"}, {"GPU_TYPE", "gb200"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->spec.shape.size, "400b");
  EXPECT_EQ(settings->precision, Precision::bf16);
}

// Nemotron-4: "DTYPE, MODEL_SIZE are required environment variables".
// Grok-1's eight experts get 2048 rows of 8192 tokens each, Maverick's 128 get 64.
TEST(RecipeChoice, ExpertsOfManyRowsAreMultipliedByTheLibrary) {
  const auto choice_of = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--gpu-type", "h100", "--dtype", "bf16", "--ep", "1", "--cp",
                                       "1", "--micro-batch-size", "1"});
    const auto settings = settings_of(std::move(arguments), {{"JOB_TOTAL_GPUS", "512"}});
    EXPECT_TRUE(settings.has_value()) << settings.error().message;
    return settings->expert_counts;
  };
  EXPECT_EQ(choice_of({"-w", "pretrain_grok1"}), ExpertCounts::on_host);
  EXPECT_EQ(choice_of({"-w", "pretrain_llama4"}), ExpertCounts::on_device);
  EXPECT_EQ(choice_of({"-w", "pretrain_grok1", "--expert-products", "device"}),
            ExpertCounts::on_device);
  EXPECT_EQ(choice_of({"-w", "pretrain_llama4", "--expert-products", "library"}),
            ExpertCounts::on_host);
}

TEST(RecipeChoice, Nemotron4NeedsItsSize) {
  EXPECT_THAT(refusal({"-w", "pretrain_nemotron4", "--scale", "16"}),
              HasSubstr("Give --model-size, or MODEL_SIZE: 15b, 340b"));
}

TEST(RecipeChoice, APrecisionThatTheTableDoesNotHaveIsNoted) {
  const auto settings = settings_of({"-w", "pretrain_llama3.1", "-s", "405b", "--dtype", "bf16",
                                     "--gpu-type", "gb200", "--scale", "128"});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->precision, Precision::bf16);
  EXPECT_THAT(settings->notes, Contains(HasSubstr("is for fp8; its layout is used with bf16")));
}

// llama3.1: "This workload runs with FP8 precision"; no row has 512 H100.
TEST(RecipeChoice, APrecisionThatNoRowHasIsNotedWithoutARow) {
  const auto notes_of = [](const char* size, const char* dtype, const char* backend) {
    return (*settings_of({"-w", "pretrain_llama3.1", "-s", size, "--dtype", dtype, "--gpu-type",
                          "h100", "--scale", "512", "--backend", backend}))
        .notes;
  };
  const auto told = Contains("every row of 405b is for fp8, and this is bf16");
  EXPECT_THAT(notes_of("405b", "bf16", "cuda"), told);
  EXPECT_THAT(notes_of("405b", "fp8", "cuda"), testing::Not(told));
  EXPECT_THAT(notes_of("405b", "bf16", "cpu"), testing::Not(told));
}

TEST(RecipeChoice, ADocumentsRowsCanBeAskedFor) {
  const std::vector<std::string> common = {"-w",         "pretrain_grok1", "--scale", "512",
                                           "--gpu-type", "h100",           "--dtype", "bf16"};
  EXPECT_EQ((*settings_of(common)).recipe->document, "grok1-25.05");
  std::vector<std::string> older = common;
  older.insert(older.end(), {"--document", "grok1-24.11"});
  const auto settings = settings_of(older);
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->recipe->document, "grok1-24.11");
  EXPECT_EQ((*settings_of({"-w", "grok1", "--scale", "8", "--document", "grok1-24.11"})).gpu_type,
            "h100");
}

TEST(RecipeChoice, RefusesADocumentOrARowThatIsNotThere) {
  EXPECT_THAT(refusal({"-w", "grok1", "--scale", "8", "--document", "grok1"}),
              HasSubstr("it has grok1-24.11, grok1-25.05"));
  EXPECT_THAT(refusal({"-w", "grok1", "--scale", "96", "--document", "grok1-25.05"}),
              HasSubstr("has no row of 314b with 96 h100; it has 128 gb200, 256 gb200"));
}

TEST(RecipeChoice, VariablesWithoutEffectAreNoted) {
  const auto settings =
      settings_of({"-w", "grok1", "--scale", "128"}, {{"ENABLE_GPU_METRICS", "true"}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_THAT(settings->notes,
              Contains("ENABLE_GPU_METRICS is set and has no effect on this program"));
}

}  // namespace
}  // namespace llmb::runner
