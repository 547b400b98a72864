// What the plan says against what ranks take from their pools, of models at an eighth of the
// recipes' sizes on every axis, where granules no longer count: over a double that computes
// nothing.
#include <gtest/gtest.h>

#include "runner/cuda/host_device.h"
#include "tests/runner/backend/planned_memory.h"
#include "tests/runner/backend/uncomputed.h"

namespace llmb::runner {
namespace {

using testing::expect_as_planned;
using testing::Expected;

class CudaLargeMemory : public ::testing::Test {
 protected:
  const testing::Uncomputed uncomputed_;
};

Arguments llama(const Arguments& more) {
  return tiny_llama(
      joined({"--num-layers", "4", "--hidden-size", "512", "--num-attention-heads", "32",
              "--num-query-groups", "8", "--head-size", "16", "--ffn-hidden-size", "1792",
              "--vocab-size", "16032", "--seq-length", "1024", "--head-chunk-rows", "256"},
             more));
}

Arguments nemotron(const Arguments& more) {
  return tiny_nemotron(
      joined({"--num-layers", "4", "--hidden-size", "768", "--num-attention-heads", "48",
              "--num-query-groups", "8", "--head-size", "16", "--ffn-hidden-size", "3072",
              "--vocab-size", "8000", "--seq-length", "512", "--head-chunk-rows", "128"},
             more));
}

// Nothing is computed, so there is no count of rows that the host could ask for.
Arguments grok(const Arguments& more) {
  return tiny_grok(joined(
      {"--num-layers",       "2",     "--hidden-size", "512",  "--num-attention-heads",    "32",
       "--num-query-groups", "8",     "--head-size",   "16",   "--expert-ffn-hidden-size", "2048",
       "--vocab-size",       "8000",  "--seq-length",  "1024", "--head-chunk-rows",        "128",
       "--expert-products",  "device"},
      more));
}

// Reserved is what is planned and 2 %, attention's workspace among it, and that is all that is ever
// taken: from the first step on, nothing is allocated or given back.
thread_local cuda::HostCalls before_steps;

void note_allocations() {
  before_steps = cuda::host_calls();
}

void expect_no_allocation(int step) {
  const cuda::HostCalls& now = cuda::host_calls();
  EXPECT_EQ(now.allocations, before_steps.allocations) << "by step " << step;
  EXPECT_EQ(now.releases, before_steps.releases) << "by step " << step;
  EXPECT_EQ(now.pinned, before_steps.pinned) << "by step " << step;
}

const Expected kNear{.tolerance = 0.001,
                     .pool_tolerance = 0.0201,
                     .reserves = true,
                     .before_steps = note_allocations,
                     .after_step = expect_no_allocation,
                     .steps = 4};

TEST_F(CudaLargeMemory, IsAsPlannedOnOneRank) {
  expect_as_planned(llama({"--global-batch-size", "2"}), kNear);
  expect_as_planned(nemotron({"--global-batch-size", "4", "--micro-batch-size", "2"}), kNear);
}

TEST_F(CudaLargeMemory, IsAsPlannedOverRanks) {
  expect_as_planned(llama({"--tp", "2", "--pp", "2", "--global-batch-size", "4"}), kNear);
  expect_as_planned(
      llama({"--num-layers", "8", "--pp", "2", "--vp", "2", "--global-batch-size", "4"}), kNear);
  expect_as_planned(nemotron({"--tp", "2", "--cp", "2", "--global-batch-size", "2"}), kNear);
}

// The first stage's activations and the last one's gradients are sent and never answered, so that
// more of these are kept at a time than of messages that come and go.
TEST_F(CudaLargeMemory, IsAsPlannedInADeepPipeline) {
  const auto deep = [](const Arguments& more) {
    return llama(joined({"--num-layers", "8", "--recompute-layers", "8", "--ffn-hidden-size", "256",
                         "--vocab-size", "256", "--pp", "8"},
                        more));
  };
  expect_as_planned(deep({"--global-batch-size", "16"}), kNear);
  expect_as_planned(deep({"--global-batch-size", "3"}), kNear);
  expect_as_planned(deep({"--num-layers", "16", "--vp", "2", "--recompute-layers", "16",
                          "--global-batch-size", "16"}),
                    kNear);
}

TEST_F(CudaLargeMemory, IsAsPlannedFullySharded) {
  expect_as_planned(llama({"--dp", "2", "--fsdp", "true", "--global-batch-size", "4"}), kNear);
}

// Their rows stay where they are, or are copied to the slices of two ranks.
TEST_F(CudaLargeMemory, IsAsPlannedForExpertsThatAreAllHere) {
  expect_as_planned(grok({"--global-batch-size", "2"}), kNear);
  expect_as_planned(grok({"--tp", "2", "--etp", "2", "--global-batch-size", "2"}), kNear);
}

TEST_F(CudaLargeMemory, IsAsPlannedWhereLayersAreRecomputed) {
  expect_as_planned(llama({"--recompute-layers", "2", "--global-batch-size", "2"}), kNear);
}

// The feed-forward layers need little here, and attention is a library's that wants much.
TEST_F(CudaLargeMemory, IsAsPlannedWhereAttentionNeedsMost) {
  cuda::set_host_devices(
      {.timing = cuda::HostTiming::never, .attention_workspace_bytes = std::int64_t{24} << 20});
  const auto narrow = [](const Arguments& more) {
    return llama(joined({"--ffn-hidden-size", "256"}, more));
  };
  expect_as_planned(narrow({"--global-batch-size", "2"}), kNear);
  expect_as_planned(narrow({"--recompute-layers", "2", "--global-batch-size", "2"}), kNear);
  expect_as_planned(narrow({"--tp", "2", "--cp", "2", "--global-batch-size", "2"}), kNear);
  expect_as_planned(narrow({"--dp", "2", "--fsdp", "true", "--global-batch-size", "4"}), kNear);
  expect_as_planned(narrow({"--pp", "2", "--vp", "2", "--global-batch-size", "4"}), kNear);
}

TEST_F(CudaLargeMemory, IsAsPlannedInFp8) {
  for (const char* dtype : {"fp8_cs", "fp8_mx"}) {
    Expected expected = kNear;
    expected.dtype = dtype;
    expect_as_planned(llama({"--global-batch-size", "2"}), expected);
  }
}

}  // namespace
}  // namespace llmb::runner
