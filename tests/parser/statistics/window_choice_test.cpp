// Which window a run gets: asked for, its recipe's document's, its release's, or its dialect's.
#include "parser/statistics/window_choice.h"

#include <gtest/gtest.h>

#include "parser/layout/experiment_name.h"

namespace llmb::parser {
namespace {

LogFacts facts_of(Dialect dialect, std::vector<std::int64_t> last_iterations,
                  std::optional<std::int64_t> declared = 49) {
  LogFacts facts;
  facts.dialect = dialect;
  facts.declared_last_iteration = declared;
  for (const std::int64_t last : last_iterations) {
    SegmentFacts segment;
    segment.last_iteration = last;
    segment.step_count = last + 1;
    segment.segment = static_cast<std::int32_t>(facts.segments.size());
    facts.segments.push_back(segment);
  }
  return facts;
}

ChosenWindow choose(const std::string& experiment, const std::string& release,
                    const LogFacts& facts, std::optional<AskedWindow> asked = {}) {
  RunConfiguration configuration = parse_experiment_name(experiment);
  configuration.set("gpu_type", "h100", ConfigSource::llmb_config);
  if (!release.empty()) configuration.set("release", release, ConfigSource::llmb_config);
  const Catalog& catalog = embedded_recipes(RecipeExtent::all);
  const auto match = match_recipe(catalog, {configuration, facts.dialect, {}});
  return choose_window(catalog, asked, match, facts);
}

constexpr const char* kNemotron = "pretrain_nemotron4_340b_fp8_gpus256_tp8_pp8_cp1_vp12_mbs1_gbs64";

TEST(WindowChoice, TakesWhatWasAskedForBeforeAnythingElse) {
  const LogFacts facts = facts_of(Dialect::nemo, {49});
  const auto range = choose(kNemotron, "25.04", facts, AskedWindow{Window{20, 30}});
  EXPECT_EQ(range, (ChosenWindow{{20, 30}, "asked for"}));
  EXPECT_EQ(choose(kNemotron, "25.04", facts, AskedWindow{}),
            (ChosenWindow{{49, 49}, "asked for"}));
}

// Nemotron-4 of 25.04: the last step is the result.
TEST(WindowChoice, IsThatOfTheRecipesDocument) {
  const LogFacts facts = facts_of(Dialect::nemo, {49});
  EXPECT_EQ(choose(kNemotron, "25.04", facts), (ChosenWindow{{49, 49}, "nemotron4-25.04"}));
  EXPECT_EQ(choose(kNemotron, "25.04.01", facts), (ChosenWindow{{49, 49}, "nemotron4-25.04"}));
  EXPECT_EQ(choose(kNemotron, "", facts), (ChosenWindow{{49, 49}, "nemotron4-25.04"}));
}

// "Training will run for 1 step after checkpoint has been loaded", of a proxy as of a recipe.
TEST(WindowChoice, OfAFunctionCheckIsItsOnlyStep) {
  LogFacts facts = facts_of(Dialect::nemo, {50}, 50);
  facts.segments[0].first_iteration = 50;
  facts.segments[0].step_count = 1;
  EXPECT_EQ(choose("own", "", facts).source, "default of nemo");
  facts.checkpoints.emplace_back().kind = CheckpointEvent::Kind::load;
  EXPECT_EQ(choose("own", "", facts), (ChosenWindow{{50, 50}, "function check"}));
  EXPECT_EQ(choose(kNemotron, "25.07", facts), (ChosenWindow{{50, 50}, "function check"}));
  EXPECT_EQ(choose(kNemotron, "", facts), (ChosenWindow{{50, 50}, "nemotron4-25.04"}));
  EXPECT_EQ(choose("own", "", facts, AskedWindow{Window{20, 30}}).source, "asked for");
  // The rest of a run that was started anew is none.
  facts.segments.insert(facts.segments.begin(), facts_of(Dialect::nemo, {49}).segments[0]);
  facts.segments[1].segment = 1;
  EXPECT_EQ(choose("own", "", facts).source, "default of nemo");
}

// The same configuration, launched by a release that averages a window.
TEST(WindowChoice, IsThatOfTheReleaseWhereTheRunNamesAnotherThanTheDocument) {
  const LogFacts facts = facts_of(Dialect::nemo, {49});
  const auto window_of = [&](const char* release) { return choose(kNemotron, release, facts); };
  EXPECT_EQ(window_of("25.07").window, (Window{11, 44}));
  EXPECT_EQ(window_of("25.08").window, (Window{35, 44}));
  EXPECT_EQ(window_of("26.02.01").window, (Window{35, 44}));
  EXPECT_EQ(window_of("24.11.1").window, (Window{49, 49}));
  for (const char* release : {"25.07", "25.08", "26.02.01"}) {
    EXPECT_NE(window_of(release).source, "nemotron4-25.04") << release;
  }
}

TEST(WindowChoice, FallsBackToTheReleaseAndThenToTheDialectForAModelThatIsNotThere) {
  const std::string name = "pretrain_gpt_5b_bf16_gpus16_tp1_pp1_cp1_vp1_mbs1_gbs64";
  EXPECT_EQ(choose(name, "25.08", facts_of(Dialect::nemo, {49})),
            (ChosenWindow{{35, 44}, "release 25.08"}));
  EXPECT_EQ(choose(name, "", facts_of(Dialect::nemo, {49})),
            (ChosenWindow{{11, 44}, "default of nemo"}));
  EXPECT_EQ(choose(name, "26.02", facts_of(Dialect::torchtitan, {50})),
            (ChosenWindow{{11, 44}, "default of torchtitan"}));
}

TEST(WindowChoice, OfWhatIsNoReleaseIsThatOfTheDialect) {
  const LogFacts facts = facts_of(Dialect::nemo, {49});
  for (const char* release : {"main", "latest", "v25.08", "25.8"}) {
    EXPECT_EQ(choose("pretrain_own_7b_bf16_64", release, facts),
              (ChosenWindow{{11, 44}, "default of nemo"}))
        << release;
  }
}

// llmb-step-runner's own choice of lines: the same steps have other numbers.
TEST(WindowChoice, OfADocumentIsInTheNumberingOfTheLog) {
  const Catalog& catalog = embedded_recipes(RecipeExtent::documents);
  const auto window = [&](const char* document, Dialect dialect) {
    return documented_window(*catalog.document(document), dialect);
  };
  EXPECT_EQ(window("grok1-25.05", Dialect::nemo), (Window{11, 44}));
  EXPECT_EQ(window("grok1-25.05", Dialect::megatron_bridge), (Window{12, 45}));
  EXPECT_EQ(window("llama3.1-25.10", Dialect::nemo), (Window{34, 43}));
  EXPECT_EQ(window("grok1-24.11", Dialect::nemo), std::nullopt);
  EXPECT_EQ(window("llama3.1-25.10", Dialect::unknown), (Window{35, 44}));
}

TEST(WindowChoice, HasNoLastStepWhereTheLogHasNoStep) {
  EXPECT_EQ(choose(kNemotron, "25.04", facts_of(Dialect::nemo, {})),
            (ChosenWindow{{11, 44}, "default of nemo"}));
}

TEST(WindowChoice, TellsTheBatchFromTheFirstSteps) {
  std::vector<StepSample> samples(60);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].iteration = static_cast<std::int64_t>(i);
    samples[i].global_batch_size = i < 45 ? 256 : 512;
  }
  LogFacts facts = facts_of(Dialect::nemo, {59});
  const Window first_steps = batch_evidence_window(facts);
  EXPECT_EQ(first_steps, (Window{0, 44}));
  EXPECT_EQ(logged_global_batch_size(samples, first_steps), 256);
  EXPECT_EQ(logged_global_batch_size(samples, {40, 50}), std::nullopt);
  facts.segments[0].first_iteration = 1000;
  EXPECT_EQ(batch_evidence_window(facts), (Window{1000, 1044}));
}

TEST(Window, LastIsThatOfTheLastPassThatReachedTheEnd) {
  EXPECT_EQ(last_step_window(facts_of(Dialect::nemo, {30, 49, 12})), (Window{49, 49}));
  EXPECT_EQ(last_step_window(facts_of(Dialect::nemo, {30, 12})), (Window{12, 12}));
  EXPECT_EQ(last_step_window(facts_of(Dialect::nemo, {30, 12}, std::nullopt)), (Window{12, 12}));
  EXPECT_EQ(last_step_window(facts_of(Dialect::nemo, {})), std::nullopt);
}

TEST(Window, IsAskedForAsARangeOrAsLast) {
  EXPECT_EQ(parse_asked_window("11-44")->range, (Window{11, 44}));
  ASSERT_TRUE(parse_asked_window("last").has_value());
  EXPECT_EQ(parse_asked_window("last")->range, std::nullopt);
  const auto refused = parse_asked_window("first");
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("or last for the last step"), std::string::npos);
}

}  // namespace
}  // namespace llmb::parser
