// What the plan says of a tiny run on CUDA devices against what its ranks take from their pools:
// what stays from step to step to the byte; activations, and what a pass needs while it runs, as
// near as sizes this small allow, because pools give out memory in granules.
#include <gtest/gtest.h>

#include "runner/cuda/gemm.h"
#include "tests/runner/backend/planned_memory.h"
#include "tests/runner/backend/uncomputed.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using testing::expect_as_planned;
using testing::Expected;
using testing::settings_of;
using testing::Uncomputed;
using CudaMemory = testing::OnDevice;

TEST_F(CudaMemory, IsAsPlannedForADenseModel) {
  const Uncomputed uncomputed;
  expect_as_planned(tiny_llama({"--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(tiny_llama(
      {"--tp", "2", "--pp", "2", "--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(
      tiny_nemotron({"--cp", "2", "--global-batch-size", "4", "--micro-batch-size", "2"}));
}

TEST_F(CudaMemory, IsWithinTwoPercentWhereGranulesAreSmall) {
  const Uncomputed uncomputed;
  expect_as_planned(tiny_llama({"--num-layers", "2", "--hidden-size", "64", "--ffn-hidden-size",
                                "192", "--seq-length", "64", "--vocab-size", "256",
                                "--global-batch-size", "2", "--micro-batch-size", "2"}),
                    {.tolerance = 0.02, .pool_tolerance = 0.03, .steps = 3});
}

// What a pass works on stays where it is, on one rank and in a pipeline.
TEST_F(CudaMemory, HoldsWhatGraphsFindWhereItWas) {
  const Uncomputed uncomputed;
  const auto with = [](const Arguments& more) {
    return tiny_llama(
        joined({"--hidden-size", "64", "--ffn-hidden-size", "192", "--seq-length", "64",
                "--vocab-size", "256", "--global-batch-size", "4", "--micro-batch-size", "2"},
               more));
  };
  const Expected graphs{.tolerance = 0.02, .pool_tolerance = 0.05, .has_graphs = true, .steps = 3};
  expect_as_planned(with({"--num-layers", "2"}), graphs);
  expect_as_planned(with({"--num-layers", "4", "--pp", "2"}), graphs);
  expect_as_planned(
      with({"--num-layers", "4", "--pp", "2", "--vp", "2", "--global-batch-size", "12"}), graphs);
}

// Logits of all tokens would be 1 MiB here, and a chunk's are 256 KiB.
TEST_F(CudaMemory, HoldsAChunkOfLogits) {
  const Uncomputed uncomputed;
  const auto with = [](const char* rows) {
    return tiny_llama({"--num-layers", "2", "--hidden-size", "64", "--ffn-hidden-size", "192",
                       "--seq-length", "64", "--vocab-size", "4096", "--global-batch-size", "2",
                       "--micro-batch-size", "2", "--head-chunk-rows", rows});
  };
  const auto planned = [&](const char* rows) {
    return make_memory_plan(settings_of(with(rows), "bf16")).largest();
  };
  EXPECT_EQ(planned("128").logits - planned("32").logits, (128 - 32) * 4096 * 2);
  for (const char* rows : {"128", "32", "29"})
    expect_as_planned(with(rows), {.tolerance = 0.02, .pool_tolerance = 0.03});
}

Arguments fp8_grok(const char* sequences, const char* products) {
  return tiny_grok({"--hidden-size", "64", "--global-batch-size", sequences, "--micro-batch-size",
                    "2", "--expert-products", products});
}

TEST_F(CudaMemory, IsAsPlannedWhereFp8WeightsAreKept) {
  const Uncomputed uncomputed;
  const Arguments arguments = tiny_llama(
      {"--num-layers", "2", "--hidden-size", "64", "--ffn-hidden-size", "192", "--seq-length", "64",
       "--vocab-size", "256", "--global-batch-size", "4", "--micro-batch-size", "2"});
  const Expected kept{.dtype = "fp8_cs"};
  EXPECT_GT(make_memory_plan(settings_of(arguments, kept.dtype)).stages[0].fp8_weights, 0);
  expect_as_planned(arguments, kept);
  // Experts' rows are cast by one launch, and their weights, too, where those are not kept.
  expect_as_planned(fp8_grok("4", "device"), kept);
  expect_as_planned(fp8_grok("2", "device"), kept);
  if (!cuda::why_no_mxfp8().empty()) return;
  expect_as_planned(arguments, {.dtype = "fp8_mx"});
}

TEST_F(CudaMemory, IsAsPlannedWhereFp8WeightsOfCountedExpertsAreKept) {
  expect_as_planned(fp8_grok("4", "library"), {.dtype = "fp8_cs"});
}

// Whole for a moment: head and embedding of a large vocabulary, a layer, a layer of experts.
TEST_F(CudaMemory, IsAsPlannedFullySharded) {
  const Uncomputed uncomputed;
  const Arguments sharded = {
      "--dp", "2", "--fsdp", "true", "--global-batch-size", "4", "--micro-batch-size", "2"};
  expect_as_planned(tiny_llama(joined(sharded, {"--vocab-size", "2048"})), {.steps = 2});
  expect_as_planned(tiny_llama(joined(sharded, {"--ffn-hidden-size", "512"})), {.steps = 2});
  expect_as_planned(tiny_grok(sharded), {.steps = 2});
  expect_as_planned(tiny_maverick(sharded), {.steps = 2});
}

TEST_F(CudaMemory, IsAsPlannedForExperts) {
  expect_as_planned(
      tiny_grok({"--dp", "2", "--global-batch-size", "4", "--micro-batch-size", "2"}));
  expect_as_planned(tiny_maverick({"--global-batch-size", "2", "--micro-batch-size", "2"}));
}

}  // namespace
}  // namespace llmb::runner
