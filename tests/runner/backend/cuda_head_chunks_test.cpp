// The head and the loss over chunks of rows on the CUDA backend: loss and every gradient are those
// of all rows at once, and the CPU's.
#include <gtest/gtest.h>

#include "tests/runner/backend/small_models.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner {
namespace {

using kernels::Bf16;
using testing::BackendStep;
using testing::difference_of;
using testing::kBatch;
using testing::small;
using testing::step_of;

using CudaHeadChunks = testing::OnDevice;

StageOptions chunks_of(std::int64_t rows) {
  StageOptions options;
  options.head_chunk_rows = rows;
  return options;
}

// Micro-batches of 16 rows: chunks of 5 leave one row for the last.
constexpr std::int64_t kRows = 16;
constexpr std::int64_t kChunkRows = 5;

template <typename Backend>
void expect_same_as_whole(const ParallelSizes& sizes, Precision precision, double tolerance) {
  if (cuda::count_devices().count < sizes.world()) GTEST_SKIP() << "not enough devices";
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  const BackendStep whole = step_of<Backend>(spec, sizes, kBatch, precision, 1, chunks_of(kRows));
  const BackendStep chunked =
      step_of<Backend>(spec, sizes, kBatch, precision, 1, chunks_of(kChunkRows));
  EXPECT_NEAR(chunked.losses[0] / whole.losses[0], 1, tolerance);
  const auto largest = difference_of(chunked, whole);
  EXPECT_LT(largest.relative, tolerance) << largest.where;
  std::cout << sizes.world() << " ranks: largest difference of a gradient " << largest.relative
            << " (" << largest.where << ")\n";
}

TEST_F(CudaHeadChunks, ChangeNeitherLossNorGradients) {
  expect_same_as_whole<cuda::Backend<float>>({}, Precision::fp32, 1e-5);
  expect_same_as_whole<cuda::Backend<float>>({.tp = 2}, Precision::fp32, 1e-5);
  expect_same_as_whole<cuda::Backend<float>>({.tp = 2, .pp = 2}, Precision::fp32, 1e-5);
}

TEST_F(CudaHeadChunks, ChangeNoFourRanksOfAVocabulary) {
  expect_same_as_whole<cuda::Backend<float>>({.tp = 4}, Precision::fp32, 1e-5);
}

// What is rounded to BF16 is the same; sums of weights' gradients are fp32.
TEST_F(CudaHeadChunks, ChangeNoPrecision) {
  expect_same_as_whole<cuda::Backend<Bf16>>({}, Precision::bf16, 1e-3);
  expect_same_as_whole<cuda::Backend<Bf16>>({.tp = 2}, Precision::bf16, 1e-3);
  expect_same_as_whole<cuda::Backend<Bf16>>({}, Precision::fp8_current, 1e-3);
}

TEST_F(CudaHeadChunks, GiveTheGradientsOfTheCpu) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b");
  const BackendStep cpu = step_of<cpu::Backend<float>>(spec, {}, kBatch, Precision::fp32);
  testing::expect_same(
      step_of<cuda::Backend<float>>(spec, {}, kBatch, Precision::fp32, 1, chunks_of(kChunkRows)),
      cpu, 1e-5, 1e-4);
}

}  // namespace
}  // namespace llmb::runner
