// A step whose passes are CUDA graphs against the same step without: losses and every gradient, to
// the bit, in several steps of several micro-batches.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "tests/runner/backend/cuda_run.h"
#include "tests/runner/backend/small_models.h"
#include "tests/runner/cuda/device_setup.h"

namespace llmb::runner::testing {

class CudaGraphs : public OnDevice {};

constexpr int kGraphSteps = 3;

struct GraphCase {
  ModelSpec spec;
  ParallelSizes sizes{};
  Precision precision = Precision::bf16;
  StageOptions options{};
  ParameterSharding sharding = ParameterSharding::none;
  int micro_batches = 2;
};

template <typename T>
BackendStep step_of_graph_case(const GraphCase& one, bool has_graphs) {
  return step_of<cuda::Backend<T>>(one.spec, one.sizes, {1, one.micro_batches * one.sizes.dp},
                                   one.precision, kGraphSteps, one.options,
                                   StepVariant{one.sharding, has_graphs});
}

// `captured_max`: graphs of rank 0, of forward and backward passes together.
template <typename T = kernels::Bf16>
void expect_same_bits(const GraphCase& one, std::int64_t captured_max) {
  if (cuda::count_devices().count < one.sizes.world()) {
    GTEST_SKIP() << one.sizes.world() << " devices are needed";
  }
  const BackendStep as_it_is = step_of_graph_case<T>(one, false);
  const BackendStep graphs = step_of_graph_case<T>(one, true);
  EXPECT_EQ(graphs.losses, as_it_is.losses);
  EXPECT_EQ(graphs.gradient_norm, as_it_is.gradient_norm);
  EXPECT_EQ(graphs.gradients, as_it_is.gradients);
  EXPECT_EQ(as_it_is.graph_use.launched, 0);
  EXPECT_EQ(graphs.graph_use.launched, 2 * one.micro_batches * one.sizes.vp * (kGraphSteps - 1));
  EXPECT_LE(graphs.graph_use.captured, captured_max);
  std::cout << one.sizes.world() << " ranks: " << graphs.graph_use.captured << " graphs of "
            << graphs.graph_use.captured_nodes << " nodes for " << graphs.graph_use.launched
            << " passes\n";
}

}  // namespace llmb::runner::testing
