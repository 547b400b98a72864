#include "runner/plan/memory_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runner/plan/ceiling_shapes.h"
#include "runner/plan/fp8_weights.h"
#include "runner/plan/gpu_rates.h"
#include "runner/plan/memory_choice.h"
#include "runner/plan/plan_text.h"

namespace llmb::runner {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As GPUs hold it, not as this machine does.
RunSettings settings_of(Options options) {
  options.backend = Backend::cuda;
  const parser::Catalog& catalog = parser::embedded_catalog();
  auto settings = make_run_settings(options, catalog);
  EXPECT_TRUE(settings.has_value()) << settings.error().message;
  settings->keeps_fp8_weights =
      choose_to_keep_fp8_weights(*settings, gpu_rates(catalog, settings->gpu_type)->memory_bytes);
  return *settings;
}

Options of_row(const std::string& workload, const std::string& model_size, const std::string& dtype,
               const std::string& gpu_type, std::int64_t scale) {
  Options options;
  options.workload = workload;
  options.model_size = model_size;
  options.dtype = dtype;
  options.gpu_type = gpu_type;
  options.scale = static_cast<int>(scale);
  return options;
}

Options tiny() {
  Options options;
  options.workload = "pretrain_llama3.1";
  options.model_size = "8b";
  options.scale = 4;
  options.tp = 2;
  options.pp = 2;
  options.global_batch_size = 8;
  options.shape.layer_count = 4;
  options.shape.hidden_size = 64;
  options.shape.attention_head_count = 4;
  options.shape.query_group_count = 2;
  options.shape.head_size = 16;
  options.shape.ffn_hidden_size = 128;
  options.shape.vocabulary_size = 256;
  options.shape.sequence_length = 32;
  return options;
}

// By hand: per rank, 2 layers of qkv 64*128/2, out 64*64/2, fc1 2*128*64/2, fc2 64*128/2 and two
// norms of 64; stage 0 has the embedding 256*64/2, stage 1 the head and the final norm.
TEST(MemoryPlan, CountsParametersOfEveryStage) {
  const MemoryPlan plan = make_memory_plan(settings_of(tiny()));
  ASSERT_EQ(plan.stages.size(), 2U);
  const std::int64_t layers = 2 * (4096 + 2048 + 8192 + 4096 + 128);
  EXPECT_EQ(plan.stages[0].parameter_count, layers + 8192);
  EXPECT_EQ(plan.stages[1].parameter_count, layers + 8192 + 64);
  EXPECT_EQ(plan.stages[0].parameters, 2 * plan.stages[0].parameter_count);
  EXPECT_EQ(plan.stages[0].optimizer, 12 * plan.stages[0].parameter_count);
  EXPECT_EQ(plan.stages[0].logits, 0);
  EXPECT_EQ(plan.stages[1].gradients, 4 * plan.stages[1].parameter_count);
}

// As ParameterStore pads them: of a stage as one block, or fully sharded of each layer and of what
// is before and after the layers.
TEST(MemoryPlan, CountsThePaddingOfBlocksThatRanksShare) {
  Options options = tiny();
  options.dp = 3;
  options.scale = 12;
  options.global_batch_size = 12;
  const auto padded = [](std::int64_t count) { return (count + 191) / 192 * 192; };
  options.fully_sharded = false;
  const StageBytes whole = make_memory_plan(settings_of(options)).stages[1];
  EXPECT_NE(whole.parameter_count % 192, 0);
  EXPECT_EQ(whole.parameters, 2 * padded(whole.parameter_count));
  EXPECT_EQ(whole.gradients, 4 * padded(whole.parameter_count));
  EXPECT_EQ(whole.optimizer, 12 * padded(whole.parameter_count) / 3);
  options.fully_sharded = true;
  const StageBytes shared = make_memory_plan(settings_of(options)).stages[1];
  const std::int64_t layer = 4096 + 2048 + 8192 + 4096 + 128;
  const std::int64_t share = (2 * padded(layer) + padded(8192 + 64)) / 3;
  EXPECT_EQ(shared.parameter_count, whole.parameter_count);
  EXPECT_EQ(shared.parameters, 2 * share);
  EXPECT_EQ(shared.gradients, 4 * share);
  EXPECT_EQ(shared.optimizer, 12 * share);
}

// By hand, in bf16: 32 tokens, 16 on a rank between GEMMs. Norms 2 * 16 * (64*4 + 4); attention
// 32 * (64*2 + 32*2 + 2*4); MLP 32*64 * (2*2 + 2). Two layers a pass, two passes live on stage 0.
// Once for each layer, 32 positions' angles for the 8 pairs of a head.
TEST(MemoryPlan, KeepsActivationsAsDeepAsThePipelineNeeds) {
  const MemoryPlan plan = make_memory_plan(settings_of(tiny()));
  const std::int64_t layer = 2 * 16 * (64 * 4 + 4) + 32 * (64 * 2 + 32 * 2 + 8) + 32 * 64 * 6;
  EXPECT_EQ(plan.stages[0].live_passes, 2);
  EXPECT_EQ(plan.stages[1].live_passes, 1);
  const std::int64_t table = 32 * 2 * 8 * 4;
  EXPECT_EQ(plan.stages[0].activations, 2 * 2 * layer + 2 * table);
  const std::int64_t gradient = 16 * 64 * 2;  // that comes back from the head
  EXPECT_EQ(plan.stages[1].activations, 2 * layer + 2 * table + gradient);
  Options one_batch = tiny();
  one_batch.global_batch_size = 1;  // one micro-batch: nothing else can wait
  EXPECT_EQ(make_memory_plan(settings_of(one_batch)).stages[0].live_passes, 1);
}

// By hand, in bf16: three times what a rank has of 32 tokens, two times all of it, as many logits
// of half the vocabulary as there are rows in a chunk, and their statistics.
TEST(MemoryPlan, HoldsLogitsOfAChunkWhereLayersNeedLess) {
  Options options = tiny();
  const auto stage_with = [&](std::int64_t rows) {
    options.head_chunk_rows = rows;
    return make_memory_plan(settings_of(options)).stages[1];
  };
  constexpr auto kColumns = std::int64_t{64} * 128;
  const auto head = [](std::int64_t rows) {
    return (3 * 16 * 64 + 2 * 32 * 64 + rows * kColumns) * 2 + (16 + 32 + 5 * rows) * 4;
  };
  const StageBytes small = stage_with(8);
  EXPECT_EQ(small.logits, 0) << "a layer's pass needs more";
  options.shape.vocabulary_size = 2 * kColumns;
  for (const std::int64_t rows : {8, 32}) {
    EXPECT_EQ(stage_with(rows).pass, small.pass);
    EXPECT_EQ(stage_with(rows).pass + stage_with(rows).logits, head(rows));
  }
  EXPECT_EQ(stage_with(100).logits, stage_with(32).logits);
  EXPECT_EQ(make_memory_plan(settings_of(options)).stages[0].logits, 0);
}

// 8192 tokens of 128,256 logits would be 1.96 GiB; of 2048 tokens they hide behind a layer's pass.
TEST(MemoryPlan, HoldsAQuarterOfLlamasLogits) {
  RunSettings settings = settings_of(of_row("pretrain_llama3.1", "8b", "bf16", "h100", 8));
  const HeadCost head = head_cost(settings);
  EXPECT_EQ(head.rows, 8192);
  EXPECT_EQ(head.chunk_rows, 2048);
  const StageBytes chunked = make_memory_plan(settings).stages[0];
  EXPECT_EQ(chunked.logits, 0);
  settings.head_chunk_rows = head.rows;
  const StageBytes whole = make_memory_plan(settings).stages[0];
  EXPECT_GT(whole.logits, std::int64_t{1} << 30);
  settings.head_chunk_rows = 0;
  const CeilingShapes shapes = ceiling_shapes(settings);
  const LinearShape& measured = shapes.linears.back();
  EXPECT_EQ(measured.name, "head");
  EXPECT_EQ(measured.rows, 2048);
  EXPECT_EQ(measured.out, 128256);
  EXPECT_EQ(measured.count, 4);
}

// By hand: messages of the pipeline, four of 16 rows, and a fifth that the first stage has sent;
// then what is whole at a time, in weights and gradients, and half its gradients, which two
// replicas share.
TEST(MemoryPlan, HoldsWhatIsGatheredOfAShardedModel) {
  Options options = tiny();
  options.scale = 8;
  options.fully_sharded = true;
  const auto gathered = [&](int stage) {
    const std::int64_t messages = std::int64_t{stage == 0 ? 5 : 4} * 16 * 64 * 2;
    return make_memory_plan(settings_of(options))
               .stages.at(static_cast<std::size_t>(stage))
               .communication -
           messages;
  };
  const std::int64_t layer = 4096 + 2048 + 8192 + 4096 + 128;
  EXPECT_EQ(gathered(0), layer * (2 + 4) + layer * 4 / 2);
  EXPECT_EQ(gathered(1), gathered(0));
  options.shape.vocabulary_size = 4096;
  const std::int64_t slice = std::int64_t{4096} * 64 / 2;
  EXPECT_EQ(gathered(0), slice * (2 + 4) + slice * 4 / 2) << "the embedding is larger than a layer";
  const std::int64_t head = slice + 64 + 64;  // and the final norm, and padding
  EXPECT_EQ(gathered(1), head * (2 + 4) + head * 4 / 2);
}

TEST(MemoryPlan, StagesTogetherHoldTheWholeModel) {
  for (const parser::Recipe& recipe : parser::embedded_catalog().recipes) {
    const RunSettings settings =
        settings_of(of_row(recipe.workload, recipe.model_size, recipe.dtypes.front(),
                           recipe.gpu_type, recipe.gpu_count_max));
    std::int64_t held = 0;
    for (const StageBytes& stage : make_memory_plan(settings).stages) {
      held += stage.expert_parameter_count * settings.sizes.ep * settings.sizes.etp;
      held += stage.parameter_count * settings.sizes.tp;
    }
    // Norms and routers are on every tensor-parallel rank.
    const auto whole = static_cast<double>(parser::parameter_count(settings.spec.shape));
    EXPECT_NEAR(static_cast<double>(held) / whole, 1.0, 1e-3) << recipe.document << recipe.line;
    EXPECT_GE(static_cast<double>(held), whole);
  }
}

// "6, 4 and 3", as README lists them.
std::string listed_layers(const std::vector<std::pair<std::string, std::int64_t>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) text += i + 1 == rows.size() ? " and " : ", ";
    text += fmt::to_string(rows[i].second);
  }
  return text;
}

// They were all run and published. Of those that do not fit this runner, whose gradients are FP32
// and whose activations are not FP8, a few layers are computed again, which makes room.
TEST(MemoryPlan, PublishedRowsFitTheirGpu) {
  using Row = std::pair<std::string, std::int64_t>;
  std::vector<Row> recomputing;
  const parser::Catalog& catalog = parser::embedded_catalog();
  const auto check = [&](const parser::Recipe& recipe, const std::string& dtype,
                         std::int64_t scale) {
    Options options = of_row(recipe.workload, recipe.model_size, dtype, recipe.gpu_type, scale);
    options.document = recipe.document;
    RunSettings settings = settings_of(options);
    const std::int64_t capacity = gpu_rates(catalog, recipe.gpu_type)->memory_bytes;
    if (make_memory_plan(settings).fits(capacity)) return;
    EXPECT_FALSE(settings.keeps_fp8_weights);
    choose_by_memory(settings, capacity);
    const Row row(fmt::format("{}:{} at {}", recipe.document, recipe.line, scale),
                  settings.recompute_layers);
    if (recomputing.empty() || recomputing.back() != row) recomputing.push_back(row);
    EXPECT_THAT(settings.notes.back(), HasSubstr("--recompute-layers 0 forbids it"));
    const MemoryPlan plan = make_memory_plan(settings);
    EXPECT_TRUE(plan.fits(capacity - capacity / 100))
        << row.first << ": " << static_cast<double>(plan.largest().total()) / 1e9 << " of "
        << static_cast<double>(capacity) / 1e9 << " GB";
  };
  for (const parser::Recipe& recipe : catalog.recipes) {
    for (std::int64_t scale = recipe.gpu_count_min; scale <= recipe.gpu_count_max; scale *= 2) {
      for (const std::string& dtype : recipe.dtypes) check(recipe, dtype, scale);
    }
  }
  EXPECT_THAT(recomputing,
              ElementsAre(Row("llama3.1-25.10:25 at 64", 6), Row("llama3.1-25.10:25 at 128", 4),
                          Row("llama3.1-25.10:25 at 256", 3), Row("llama3.1-25.10:36 at 128", 2),
                          Row("llama3.1-25.10:37 at 64", 13), Row("llama3.1-25.10:37 at 128", 8),
                          Row("nemotron4-25.04:9 at 16", 5)));
  std::ifstream readme(LLMB_SOURCE_DIR "/README.md");
  const std::string text(std::istreambuf_iterator<char>(readme), {});
  EXPECT_THAT(text, HasSubstr("| " + listed_layers(recomputing) + ", as the row's do not fit"));
}

TEST(MemoryChoice, IsNoneWhereItIsSaidOrNotNeeded) {
  const std::int64_t h100 = std::int64_t{80} << 30;
  Options options = of_row("pretrain_nemotron4", "15b", "bf16", "h100", 16);
  const auto chosen = [&](std::int64_t capacity) {
    RunSettings settings = settings_of(options);
    choose_by_memory(settings, capacity);
    return settings.recompute_layers;
  };
  EXPECT_GT(chosen(h100), 0);
  EXPECT_EQ(chosen(2 * h100), 0);
  EXPECT_EQ(chosen(h100 / 8), 0) << "no number of layers makes it fit";
  options.recompute_layers = 0;
  EXPECT_EQ(chosen(h100), 0);
  options.recompute_layers = 1;
  EXPECT_EQ(chosen(h100), 1);
}

// By hand: two layers' matrices as in CountsParametersOfEveryStage, a byte an element in each of
// the two layouts.
TEST(MemoryPlan, KeepsFp8WeightsWhereThatFits) {
  Options options = tiny();
  options.dtype = "fp8_cs";
  RunSettings settings = settings_of(options);
  EXPECT_TRUE(settings.keeps_fp8_weights);
  const MemoryPlan kept = make_memory_plan(settings);
  EXPECT_EQ(kept.stages[0].fp8_weights, 2 * 2 * (4096 + 2048 + 8192 + 4096));
  const std::int64_t needed = kept.largest().total();
  const std::int64_t enough = (20 * needed + 18) / 19;  // a twentieth of it is to spare
  EXPECT_TRUE(choose_to_keep_fp8_weights(settings, enough));
  EXPECT_FALSE(choose_to_keep_fp8_weights(settings, enough - 2));
  settings.keeps_fp8_weights = false;
  EXPECT_EQ(make_memory_plan(settings).stages[0].fp8_weights, 0);
  EXPECT_LT(make_memory_plan(settings).largest().total(), needed);

  const auto keeps = [](const Options& some) { return settings_of(some).keeps_fp8_weights; };
  options.fully_sharded = true;
  EXPECT_FALSE(keeps(options));
  options.fully_sharded = false;
  EXPECT_TRUE(keeps(options));
  options.dtype = "fp8_mx";
  EXPECT_TRUE(keeps(options));
  // Beside the elements, tiles of 512 bytes for 128 rows by 128 columns of each layout: 64 x 64,
  // 64 x 32, 128 x 64 and 64 x 64, none larger than one.
  EXPECT_EQ(make_memory_plan(settings_of(options)).stages[0].fp8_weights,
            2 * 2 * (4096 + 2048 + 8192 + 4096 + 4 * 512));
  options.dtype = "bf16";
  EXPECT_FALSE(keeps(options));
  options.dtype = "fp8_ds";
  EXPECT_TRUE(keeps(options));
  options.global_batch_size = 1;
  EXPECT_FALSE(keeps(options));
}

// By hand: Grok-1's 8192 tokens over cp 2 and tp 4, two experts each; of a row that comes in, its
// hidden elements, two halves of fc1 and what comes out of the activation are kept.
TEST(MemoryPlan, HasRoomForUnevenExperts) {
  Options options = of_row("pretrain_grok1", "314b", "bf16", "h100", 512);
  const auto settings_with = [&](double imbalance) {
    options.expert_imbalance = imbalance;
    return settings_of(options);
  };
  const RunSettings even = settings_with(1);
  EXPECT_EQ(even.sizes.ep, 8);
  EXPECT_EQ(even_expert_rows(even), 8192 / 2 / 4 * 2);
  const RunSettings uneven = settings_with(1.5);
  EXPECT_EQ(planned_expert_rows(uneven), 3072);
  EXPECT_EQ(planned_expert_rows(settings_with(100)), 8 * 2048) << "there are no more rows";
  const std::int64_t row = 2 * (6144 + 3 * std::int64_t{32768});
  EXPECT_EQ(layer_cost(uneven, 0).activation_bytes - layer_cost(even, 0).activation_bytes,
            1024 * row);
  EXPECT_EQ(layer_cost(uneven, 0).gemm_flops, layer_cost(even, 0).gemm_flops);
  EXPECT_GT(make_memory_plan(uneven).stages[0].pass, make_memory_plan(even).stages[0].pass);
  MemoryUse use;
  use.expert_rows_max = 4096;
  EXPECT_THAT(ran_out_text(uneven, use, 1, 70, "Could not allocate 8 bytes."),
              AllOf(HasSubstr("out of memory in the run of rank 70: Could not allocate 8 bytes."),
                    HasSubstr("its experts got 4096 rows of a micro-batch, 2.00 times the even "
                              "share, and 3072 were planned: a larger --expert-imbalance")));
  options.ep = 1;
  options.etp = 4;
  EXPECT_EQ(planned_expert_rows(settings_with(1.5)), 4 * 2048) << "of all experts' slices";
}

TEST(MemoryPlan, AWholeModelOnOneGpuDoesNotFit) {
  Options options;
  options.workload = "pretrain_grok1";
  options.model_size = "314b";
  options.scale = 1;
  EXPECT_FALSE(make_memory_plan(settings_of(options)).fits(std::int64_t{80} << 30));
}

// What cannot be joined of a pool comes out of the reserve, and leaves the libraries theirs.
TEST(MemoryPlan, HasAReserveThatGrowsWithThePool) {
  constexpr std::int64_t kGibi = std::int64_t{1} << 30;
  EXPECT_EQ(make_memory_plan(settings_of(tiny())).largest().reserve, 3 * kGibi);
  for (const std::int64_t micro_batch_size : {1, 2, 4, 8}) {
    Options options = of_row("pretrain_llama3.1", "8b", "bf16", "gb200", 8);
    options.micro_batch_size = micro_batch_size;
    options.recompute_layers = 0;
    const StageBytes stage = make_memory_plan(settings_of(options)).largest();
    EXPECT_GE(stage.total() - stage.arena(), kGibi * 3 / 2) << micro_batch_size;
    EXPECT_EQ(stage.reserve > 3 * kGibi, stage.pooled() > 75 * kGibi) << micro_batch_size;
  }
}

TEST(MemoryPlan, RecomputationAndOffloadingTakeActivationsAway) {
  RunSettings settings = settings_of(tiny());
  const StageBytes plain = make_memory_plan(settings).stages[0];
  settings.offload_layers = 1;
  const StageBytes offloaded = make_memory_plan(settings).stages[0];
  const std::int64_t tables = 2 * (32 * 2 * 8 * 4);
  EXPECT_EQ((offloaded.activations - tables) * 2, plain.activations - tables);
  EXPECT_EQ(offloaded.host + offloaded.activations, plain.activations);
  settings.offload_layers = 0;
  settings.recompute_layers = 2;
  EXPECT_LT(make_memory_plan(settings).stages[0].activations, plain.activations);
}

TEST(PlannableBytes, AreWhatIsFreeAndWhatTheContextTookOfTheReserve) {
  StageBytes stage;
  stage.parameters = 1000;
  stage.reserve = 300;
  EXPECT_EQ(stage.arena(), 1020);
  EXPECT_EQ(plannable_bytes(stage, 5000, 5000), 5000);
  EXPECT_EQ(plannable_bytes(stage, 5000, 4800), 5000) << "the context is in the reserve";
  EXPECT_EQ(plannable_bytes(stage, 5000, 1000), 1300) << "of which others' memory is not";
}

}  // namespace
}  // namespace llmb::runner
