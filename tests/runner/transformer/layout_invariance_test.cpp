// No parallel layout changes the loss or a gradient: every one of up to 16 ranks that the tiny
// models can be cut into, as threads in single precision, against one rank. Where the sanitizers
// watch, every twelfth. Maverick's 761 are cut to those of up to 8 ranks, as Grok-1 has the same
// foldings; LLMB_ALL_LAYOUTS=1 takes all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/runner/model/tiny_models.h"
#include "tests/runner/transformer/layout_cases.h"

namespace llmb::runner {
namespace {

using testing::batch_of;
using testing::compare_with_one_rank;
using testing::layouts_up_to;
using testing::name_of_sizes;
using testing::step_of_one_rank;
using testing::StepOfOneRank;

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kMicroBatchSize = 2;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStride = 12;
#else
constexpr std::size_t kStride = 1;
#endif

// Weights large enough that attention and routing are not nearly even.
ModelSpec lively(ModelSpec spec) {
  spec.initial_std = 0.2;
  return spec;
}

ShapeOverrides small_shape() {
  ShapeOverrides shape;
  shape.hidden_size = 16;
  shape.vocabulary_size = 24;
  return shape;
}

void expect_invariance(const ModelSpec& spec, int ranks_max, std::size_t layouts_min) {
  const bool is_all = std::getenv("LLMB_ALL_LAYOUTS") != nullptr;
  const auto layouts = layouts_up_to(is_all ? 16 : ranks_max, spec, kMicroBatchSize);
  EXPECT_GE(layouts.size(), layouts_min);
  std::map<std::int64_t, StepOfOneRank> references;  // by global batch size
  double gradient_max = 0;
  double loss_max = 0;
  for (std::size_t i = 0; i < layouts.size(); i += is_all ? 1 : kStride) {
    const ParallelSizes& sizes = layouts[i];
    const BatchSizes batch = batch_of(sizes, kMicroBatchSize);
    auto [reference, is_new] = references.try_emplace(batch.global_batch_size);
    if (is_new) reference->second = step_of_one_rank(spec, batch, kSeed);
    const auto largest = compare_with_one_rank(spec, sizes, batch, kSeed, reference->second);
    EXPECT_LT(largest.loss, 1e-5) << name_of_sizes(sizes);
    EXPECT_LT(largest.gradient, 1e-5) << name_of_sizes(sizes) << largest.where;
    gradient_max = std::max(gradient_max, largest.gradient);
    loss_max = std::max(loss_max, largest.loss);
  }
  std::cout << layouts.size() << " layouts: largest difference of a loss " << loss_max
            << ", of a gradient " << gradient_max << "\n";
}

TEST(LayoutInvariance, HoldsForGrok1) {
  expect_invariance(lively(tiny_model("pretrain_grok1", "314b", small_shape())), 16, 700);
}

TEST(LayoutInvariance, HoldsForLlama31) {
  expect_invariance(lively(tiny_model("pretrain_llama3.1", "8b", small_shape())), 16, 100);
}

TEST(LayoutInvariance, HoldsForLlama4Maverick) {
  ModelSpec spec = tiny_model("pretrain_llama4_maverick", "400b", small_shape());
  spec.shape.attention_chunk_size = 6;  // crosses the pieces of context parallelism
  expect_invariance(lively(spec), 8, 150);
}

TEST(LayoutInvariance, HoldsForNemotron4) {
  expect_invariance(lively(tiny_model("pretrain_nemotron4", "15b", small_shape())), 16, 100);
}

}  // namespace
}  // namespace llmb::runner
