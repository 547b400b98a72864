#include "runner/plan/dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::runner {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

DryRun dry_run_of(const std::vector<std::string>& arguments) {
  ParsedOptions parsed = parse_options(arguments, {});
  EXPECT_FALSE(parsed.exit_code) << parsed.text;
  parsed.options.dry_run = true;
  const parser::Catalog& catalog = parser::embedded_catalog();
  const auto settings = make_run_settings(parsed.options, catalog);
  EXPECT_TRUE(settings.has_value()) << settings.error().message;
  const auto planned = dry_run(*settings, catalog);
  EXPECT_TRUE(planned.has_value()) << planned.error().message;
  return *planned;
}

TEST(DryRun, PlansAPublishedConfiguration) {
  const DryRun planned = dry_run_of({"-w", "pretrain_grok1", "-s", "314b", "--dtype", "bf16",
                                     "--scale", "512", "--gpu-type", "h100", "--dry-run"});
  EXPECT_EQ(planned.exit_code, kExitOk);
  for (const char* part :
       {"grok1 314b, 316.45 B parameters", "document grok1-25.05 line 25",
        "512 ranks = TP 4 x CP 2 x DP 8 x PP 8, VP 8; experts ETP 1 x EP 8 x EDP 8",
        "128 groups of    4", "128 micro-batches a replica", "interleaved 1F1B, 8 chunks",
        "of 80.00 GiB", "4.274e+15 a sequence by the formula 'megatron'",
        "4.377e+18 a step, 8.548e+15 a GPU"}) {
    EXPECT_THAT(planned.text, HasSubstr(part));
  }
  EXPECT_THAT(planned.text, Not(HasSubstr("differs from the published")));
}

TEST(DryRun, NamesTheFormulaAndWhatDiffersFromThePublishedModel) {
  const DryRun planned = dry_run_of({"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "16",
                                     "--num-layers", "16", "--flops-formula", "recipe-2025.04"});
  EXPECT_THAT(planned.text, HasSubstr("layer_count 32 -> 16"));
  EXPECT_THAT(planned.text, HasSubstr("by the formula 'recipe-2025.04'"));
}

// nemotron4-25.04, Notes: "model flops = … = 434.5e12" for 15B.
TEST(DryRun, CountsAsTheDocumentDoesBesideMegatron) {
  const DryRun planned = dry_run_of({"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "16"});
  EXPECT_THAT(planned.text, HasSubstr("by the formula 'megatron'"));
  EXPECT_THAT(planned.text, HasSubstr("as the document counts: 4.345e+14 a sequence by the formula "
                                      "'recipe-2025.04'"));
}

TEST(DryRun, SaysWhetherPassesAreGraphs) {
  const auto text_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "-w",         "pretrain_grok1", "-s",   "314b", "--scale",   "512",
        "--gpu-type", "h100",           "--vp", "1",    "--backend", "cuda"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return dry_run_of(arguments).text;
  };
  EXPECT_THAT(text_of({}), Not(HasSubstr("graph")));
  EXPECT_THAT(text_of({"--cuda-graphs", "true"}), HasSubstr("no CUDA graphs: experts on several"));
  const std::vector<std::string> here = {"--cuda-graphs", "true", "--ep", "1", "--etp", "4"};
  const auto with_here = [&](std::vector<std::string> more) {
    more.insert(more.end(), here.begin(), here.end());
    return text_of(more);
  };
  for (const char* chunks : {"1", "2"}) {
    EXPECT_THAT(with_here({"--expert-products", "device", "--vp", chunks}),
                AllOf(HasSubstr("from the second step on, each pass of a micro-batch is a CUDA "
                                "graph"),
                      HasSubstr("GiB are for the driver's share of the graphs, 64 KiB an "
                                "operation")));
  }
  EXPECT_THAT(with_here({"--expert-products", "library"}),
              HasSubstr("no CUDA graphs: the library's products of experts"));
  EXPECT_THAT(with_here({"--dtype", "fp8", "--expert-products", "device"}),
              Not(HasSubstr("no CUDA graphs")));
  EXPECT_THAT(with_here({"--dtype", "fp8_mx", "--expert-products", "device"}),
              HasSubstr("no CUDA graphs: the library's products of experts"));
}

TEST(DryRun, SaysForHowManyRowsOfExpertsItPlans) {
  const auto text_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"-w",  "pretrain_grok1", "-s",  "314b", "--scale",
                                          "512", "--gpu-type",     "h100"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return dry_run_of(arguments).text;
  };
  EXPECT_THAT(text_of({}), AllOf(HasSubstr("planned as 1.00 times the even share of a rank"),
                                 ContainsRegex("h100 has room for 1\\.[0-9][05] times")));
  EXPECT_THAT(text_of({"--expert-imbalance", "2"}), HasSubstr("planned as 2.00 times the even"));
  EXPECT_THAT(text_of({"--ep", "1", "--etp", "4"}), Not(HasSubstr("even share")));
  const ParsedOptions less = parse_options({"--expert-imbalance", "0.9"}, {});
  EXPECT_EQ(less.exit_code, kExitUsage);
}

TEST(DryRun, SaysWhetherFp8WeightsAreKept) {
  const auto text_of_row = [](const char* size, const char* dtype, const char* scale) {
    return dry_run_of({"-w", "pretrain_llama3.1", "-s", size, "--dtype", dtype, "--scale", scale,
                       "--gpu-type", "h100"})
        .text;
  };
  EXPECT_THAT(text_of_row("70b", "fp8", "64"),
              HasSubstr("FP8 weights are cast once a step and kept, 3.98 GiB a rank"));
  EXPECT_THAT(text_of_row("405b", "fp8", "1024"),
              HasSubstr("FP8 weights are cast in every pass: copies for a whole step take 11.88 "
                        "GiB a rank and do not fit"));
  EXPECT_THAT(text_of_row("8b", "fp8", "8"),
              HasSubstr("FP8 weights are cast in every pass: they are sharded"));
  EXPECT_THAT(text_of_row("70b", "bf16", "64"), Not(HasSubstr("FP8 weights")));
}

TEST(DryRun, SaysWhichGpusHaveNoBlocksOfFp8) {
  const auto plan_on = [](const char* gpu_type, const char* dtype,
                          const std::string& backend = "cuda") {
    return dry_run_of({"-w", "pretrain_llama3.1", "-s", "8b", "--dtype", dtype, "--scale", "8",
                       "--gpu-type", gpu_type, "--backend", backend});
  };
  const DryRun refused = plan_on("h100", "fp8_mx");
  EXPECT_EQ(refused.refusal, "FP8 in blocks (fp8_mx) needs sm_100, and h100 is sm_90");
  EXPECT_THAT(refused.text, HasSubstr(refused.refusal));
  EXPECT_EQ(refused.exit_code, kExitUsage);
  EXPECT_EQ(plan_on("h100", "fp8_cs").refusal, "");
  EXPECT_EQ(plan_on("b200", "fp8_mx").refusal, "");
  EXPECT_EQ(plan_on("h100", "fp8_mx", "cpu").refusal, "") << "it is emulated there";
}

// Llama 8B, on a tensor rank of one: sums of 32 heads of 8192 rows, dq in fp32, and every head's dk
// and dv: 1 + 128 + 2 * 64 MiB.
TEST(DryRun, CountsAttentionsWorkspace) {
  const auto text_with = [](const char* sequence) {
    return dry_run_of({"-w", "pretrain_llama3.1", "-s", "8b", "--dtype", "bf16", "--scale", "8",
                       "--gpu-type", "h100", "--backend", "cuda", "--cp", "1", "--seq-length",
                       sequence})
        .text;
  };
  EXPECT_THAT(text_with("8192"), HasSubstr("attention's workspace in a pass: 0.25 GiB"));
  EXPECT_THAT(text_with("16384"), HasSubstr("attention's workspace in a pass: 0.50 GiB"));
}

TEST(DryRun, SaysHowManyTokensHaveLogitsAtOnce) {
  const std::vector<std::string> words = {
      "-w", "pretrain_llama3.1", "-s",   "8b",        "--dtype", "bf16", "--scale",
      "8",  "--gpu-type",        "h100", "--backend", "cuda"};
  EXPECT_THAT(dry_run_of(words).text,
              HasSubstr("head       logits of 2048 of 8192 tokens of a micro-batch at once, "
                        "0.49 GiB"));
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--head-chunk-rows", "9000"});
  EXPECT_THAT(dry_run_of(more).text, HasSubstr("logits of all 8192 tokens of a micro-batch at "
                                               "once, 1.96 GiB"));
}

// llama3.1, column CG.
TEST(DryRun, SaysWhereCudaGraphsAreUsed) {
  std::vector<std::string> words = {"-w",  "pretrain_llama3.1", "-s", "8b",         "--dtype",
                                    "fp8", "--scale",           "8",  "--gpu-type", "h100"};
  const std::string of_row = "note: the row has CUDA graphs, and this run has none";
  EXPECT_THAT(dry_run_of(words).text, HasSubstr(of_row));
  EXPECT_THAT(dry_run_of(words).text, Not(HasSubstr("; CUDA graphs")));
  words.insert(words.end(), {"--cuda-graphs", "true"});
  EXPECT_THAT(dry_run_of(words).text, HasSubstr("; CUDA graphs\n"));
  EXPECT_THAT(dry_run_of(words).text, Not(HasSubstr(of_row)));
}

// The rows of Nemotron 4 340B have VP 12 in the recipe, those of Grok 1 another GA.
TEST(DryRun, NotesOfARowWhatTheRunTakesFromIt) {
  std::vector<std::string> nemotron = {
      "-w",  "pretrain_nemotron4", "-s",  "340b", "--dtype", "bf16", "--scale",
      "256", "--gpu-type",         "h100"};
  EXPECT_THAT(dry_run_of(nemotron).text, HasSubstr("the recipe runs VP 12"));
  nemotron.insert(nemotron.end(), {"--vp", "1"});
  EXPECT_THAT(dry_run_of(nemotron).text, Not(HasSubstr("the recipe runs VP")));
  std::vector<std::string> grok = {"-w",   "pretrain_grok1", "-s", "314b",       "--dtype",
                                   "bf16", "--scale",        "8",  "--gpu-type", "h100"};
  EXPECT_THAT(dry_run_of(grok).text, HasSubstr("the batch is kept"));
  grok.insert(grok.end(), {"--global-batch-size", "512"});
  EXPECT_THAT(dry_run_of(grok).text, Not(HasSubstr("the batch is kept")));
}

// nemotron4: "PROFILE_START_STEP: start profiling on this job step. Default: 20", "The job will run
// for a total of 25 steps".
TEST(DryRun, SaysWhichStepsAreProfiled) {
  EXPECT_THAT(
      dry_run_of({"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "16", "--profile"}).text,
      HasSubstr("steps      25, profiled from step 20 on, before step 25"));
  ParsedOptions parsed = parse_options(
      {"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "16"},
      {{"ENABLE_PROFILE", "true"}, {"PROFILE_START_STEP", "10"}, {"PROFILE_STOP_STEP", "12"}});
  parsed.options.dry_run = true;
  const parser::Catalog& catalog = parser::embedded_catalog();
  EXPECT_THAT(dry_run(*make_run_settings(parsed.options, catalog), catalog)->text,
              HasSubstr("profiled from step 10 on, before step 12"));
}

// "Training runs for the first 50 steps"; "tracing is limited to the first 5 steps of the job".
TEST(DryRun, ATracedRunGoesOnToItsWindow) {
  ParsedOptions parsed =
      parse_options({"-w", "pretrain_grok1", "--scale", "128", "--nccl-trace", "--dry-run"}, {});
  EXPECT_EQ(make_run_settings(parsed.options, parser::embedded_catalog())->step_count, 50);
  parsed.options.step_count = 5;
  EXPECT_EQ(make_run_settings(parsed.options, parser::embedded_catalog())->step_count, 5);
}

TEST(DryRun, WhatDoesNotFitEndsWithItsOwnCodeAndWhatWouldFit) {
  const DryRun planned =
      dry_run_of({"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "1", "--dtype", "bf16"});
  EXPECT_EQ(planned.exit_code, kExitDoesNotFit);
  EXPECT_THAT(planned.text, HasSubstr("does not fit"));
  EXPECT_THAT(planned.text, HasSubstr("would fit with this layout"));
  EXPECT_THAT(planned.text, HasSubstr("optimizer"));  // the table is there too
}

// Logs of such a run are of the class of those that a GPU stops.
TEST(DryRun, WhatDoesNotFitAGpuSaysSoInItsWordsAndHowToMakeRoom) {
  const std::vector<std::string> words = {
      "-w",   "pretrain_nemotron4", "-s",   "15b",       "--scale", "16", "--dtype",
      "bf16", "--gpu-type",         "h100", "--backend", "cuda"};
  std::vector<std::string> keeping = words;
  keeping.insert(keeping.end(), {"--recompute-layers", "0"});
  const DryRun planned = dry_run_of(keeping);
  EXPECT_EQ(planned.exit_code, kExitDoesNotFit);
  EXPECT_THAT(planned.text, HasSubstr("does not fit: CUDA out of memory, by the plan: "));
  const std::string option = "--recompute-layers ";
  const std::size_t at = planned.text.find(option);
  ASSERT_NE(at, std::string::npos) << planned.text;
  std::vector<std::string> recomputing = words;
  const std::size_t count = at + option.size();
  recomputing.insert(
      recomputing.end(),
      {"--recompute-layers", planned.text.substr(count, planned.text.find(' ', count) - count)});
  EXPECT_EQ(dry_run_of(recomputing).exit_code, 0);
  // Where nobody says, as many are chosen as make room.
  const DryRun chosen = dry_run_of(words);
  EXPECT_EQ(chosen.exit_code, 0) << chosen.text;
  EXPECT_THAT(chosen.text, HasSubstr("go forward again instead of keeping activations"));
}

TEST(DryRun, TheSuggestedProxyFits) {
  const DryRun planned =
      dry_run_of({"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "1", "--dtype", "bf16"});
  const auto begin = planned.text.find("--num-layers ");
  ASSERT_NE(begin, std::string::npos);
  const std::string layers =
      planned.text.substr(begin + 13, planned.text.find(' ', begin + 13) - begin - 13);
  EXPECT_EQ(
      dry_run_of({"-w", "pretrain_nemotron4", "-s", "15b", "--scale", "1", "--num-layers", layers})
          .exit_code,
      kExitOk);
}

TEST(DryRun, ContradictionsOfARowAreNoted) {
  EXPECT_THAT(dry_run_of({"-w", "pretrain_llama4", "-s", "400b", "--scale", "512"}).text,
              HasSubstr("note: the row states VP 12 with PP 1"));
}

}  // namespace
}  // namespace llmb::runner
