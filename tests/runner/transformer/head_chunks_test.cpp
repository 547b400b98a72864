// The head and the loss over chunks of rows against all rows at once: loss and every gradient, in
// double precision and in the precisions of the recipes, on one rank and on several. What chunks
// change is the order in which the head's weight gradient is added up, and nothing else.
#include <gtest/gtest.h>

#include <iostream>
#include <mutex>

#include "tests/runner/model/tiny_models.h"
#include "tests/runner/transformer/layout_cases.h"

namespace llmb::runner {
namespace {

using testing::name_of_sizes;
using testing::RankStep;

struct WholeStep {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradients;
};

constexpr std::int64_t kSequenceLength = 16;
constexpr BatchSizes kBatch{2, 4};
constexpr std::int64_t kRows = kSequenceLength * kBatch.micro_batch_size;

template <typename T>
WholeStep step_with(std::int64_t chunk_rows, const ModelSpec& spec, const ParallelSizes& sizes,
                    Precision precision = Precision::fp32) {
  const Layout layout = *Layout::make(sizes, sizes.world());
  StageOptions options;
  options.precision = precision;
  options.head_chunk_rows = chunk_rows;
  WholeStep step;
  std::mutex mutex;
  run_thread_ranks(sizes.world(), [&](World& world) {
    const BatchSizes batch{kBatch.micro_batch_size, kBatch.global_batch_size * sizes.dp};
    RankStep<T> rank(world, spec, layout, batch, 5, options);
    const double loss = rank.forward_backward(0);
    const std::lock_guard lock(mutex);
    step.loss = loss;
    for (const auto& local : rank.store().parameters()) {
      std::vector<double>& whole = step.gradients[local.parameter.name];
      whole.resize(static_cast<std::size_t>(local.parameter.element_count()));
      for (std::size_t i = 0; i < local.gradient.size(); ++i) {
        whole[testing::whole_index_of(local, i)] = static_cast<double>(local.gradient[i]);
      }
    }
  });
  return step;
}

ModelSpec model(const char* workload, const char* size) {
  ShapeOverrides shape;
  shape.sequence_length = kSequenceLength;
  ModelSpec spec = tiny_model(workload, size, shape);
  spec.initial_std = 0.2;  // large enough that losses are not nearly even
  return spec;
}

void expect_same(const WholeStep& chunked, const WholeStep& whole, double tolerance,
                 const std::string& what) {
  EXPECT_NEAR(chunked.loss / whole.loss, 1, tolerance) << what;
  double largest = 0;
  for (const auto& [name, expected] : whole.gradients) {
    double scale = 0;
    for (const double g : expected) scale = std::max(scale, std::fabs(g));
    ASSERT_GT(scale, 0) << name;
    const std::vector<double>& gradient = chunked.gradients.at(name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double difference = std::fabs(gradient[i] - expected[i]) / scale;
      ASSERT_LE(difference, tolerance) << what << ": " << name << "[" << i << "]";
      largest = std::max(largest, difference);
    }
  }
  std::cout << what << ": largest difference of a gradient " << largest << "\n";
}

// A chunk of 5 of 32 rows leaves 2 for the last one, one of 13 leaves 6; over two context ranks 5
// of 16 leave 1.
TEST(HeadChunks, ChangeNeitherLossNorGradients) {
  const ModelSpec spec = model("pretrain_llama3.1", "8b");
  for (const ParallelSizes& sizes :
       {ParallelSizes{}, ParallelSizes{.tp = 2}, ParallelSizes{.tp = 4},
        ParallelSizes{.tp = 2, .pp = 2}, ParallelSizes{.cp = 2, .dp = 2},
        ParallelSizes{.pp = 2, .vp = 2}}) {
    const WholeStep whole = step_with<double>(kRows, spec, sizes);
    for (const std::int64_t rows : {1, 5, 13}) {
      expect_same(step_with<double>(rows, spec, sizes), whole, 1e-12,
                  name_of_sizes(sizes) + std::to_string(rows) + " rows at a time");
    }
  }
}

TEST(HeadChunks, ChangeNoFamily) {
  for (const auto& spec : {model("pretrain_grok1", "314b"), model("pretrain_nemotron4", "15b"),
                           model("pretrain_llama4_maverick", "400b")}) {
    expect_same(step_with<double>(7, spec, {}), step_with<double>(kRows, spec, {}), 1e-12,
                spec.shape.family);
  }
}

TEST(HeadChunks, AreOneWhereAllRowsFit) {
  const ModelSpec spec = model("pretrain_llama3.1", "8b");
  for (const int tp : {1, 2}) {
    const WholeStep chosen = step_with<float>(0, spec, {.tp = tp});
    for (const std::int64_t rows : {kRows, 2 * kRows}) {
      const WholeStep step = step_with<float>(rows, spec, {.tp = tp});
      EXPECT_EQ(step.loss, chosen.loss);
      EXPECT_EQ(step.gradients, chosen.gradients);
    }
  }
}

// In narrow precisions a logit's last bit, which a product of fewer rows may change, can tip a
// rounding to BF16.
TEST(HeadChunks, ChangeNoPrecision) {
  const ModelSpec spec = model("pretrain_llama3.1", "8b");
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp8_current,
                                    Precision::fp8_delayed, Precision::mxfp8}) {
    const double tolerance = precision == Precision::fp32 ? 1e-5 : 2e-2;
    for (const int tp : {1, 2}) {
      const WholeStep whole = step_with<float>(kRows, spec, {.tp = tp}, precision);
      expect_same(step_with<float>(11, spec, {.tp = tp}, precision), whole, tolerance,
                  std::string(precision_name(precision)) + " tp" + std::to_string(tp));
    }
  }
}

}  // namespace
}  // namespace llmb::runner
