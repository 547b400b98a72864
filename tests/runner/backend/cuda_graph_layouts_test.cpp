// Passes as CUDA graphs where several ranks share the work: each with graphs of its own, and their
// messages between them.
#include "tests/runner/backend/graph_bits.h"

namespace llmb::runner {
namespace {

using testing::expect_same_bits;
using testing::small;

class CudaGraphLayouts : public testing::CudaGraphs {};

TEST_F(CudaGraphLayouts, HaveTheBitsOfSharedTensorsAndContext) {
  expect_same_bits({.spec = small("pretrain_llama3.1", "8b"), .sizes = {.tp = 2, .dp = 2}}, 2);
  expect_same_bits<float>({.spec = small("pretrain_nemotron4", "15b"),
                           .sizes = {.tp = 2, .cp = 2},
                           .precision = Precision::fp32},
                          2);
}

TEST_F(CudaGraphLayouts, HaveTheBitsOfSharedParameters) {
  expect_same_bits({.spec = small("pretrain_llama3.1", "8b"),
                    .sizes = {.dp = 2},
                    .sharding = ParameterSharding::full},
                   2);
}

TEST_F(CudaGraphLayouts, HaveTheBitsOfSlicesOfExperts) {
  expect_same_bits({.spec = small("pretrain_grok1", "314b"), .sizes = {.tp = 2, .dp = 2, .etp = 2}},
                   2);
}

// A graph for each micro-batch that is under way, however many there are in a step.
TEST_F(CudaGraphLayouts, HaveTheBitsOfPipelines) {
  expect_same_bits(
      {.spec = small("pretrain_llama3.1", "8b"), .sizes = {.pp = 2}, .micro_batches = 5}, 2 * 2);
  expect_same_bits(
      {.spec = small("pretrain_llama3.1", "8b", 4), .sizes = {.pp = 4}, .micro_batches = 5}, 2 * 4);
}

// Each chunk has graphs of its own. The first stage has four micro-batches of its first chunk under
// way at a time, and two of its second one.
TEST_F(CudaGraphLayouts, HaveTheBitsOfInterleavedPipelines) {
  const ModelSpec spec = small("pretrain_llama3.1", "8b", 4);
  expect_same_bits({.spec = spec, .sizes = {.pp = 2, .vp = 2}}, 2 * (2 + 2));
  expect_same_bits({.spec = spec, .sizes = {.pp = 2, .vp = 2}, .micro_batches = 6}, 2 * (4 + 2));
}

}  // namespace
}  // namespace llmb::runner
