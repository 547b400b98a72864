// Models of two layers that run in a second over the shim, and the comparison of two backends'
// steps of them.
#pragma once

#include <gtest/gtest.h>

#include <iostream>

#include "tests/runner/backend/backend_step.h"
#include "tests/runner/model/tiny_models.h"

namespace llmb::runner::testing {

// Weights large enough that attention and routing are not nearly even.
inline ModelSpec small(std::string_view workload, std::string_view size, int layers = 2) {
  ShapeOverrides shape;
  shape.layer_count = layers;
  shape.hidden_size = 16;
  shape.sequence_length = 8;
  shape.vocabulary_size = 24;
  ModelSpec spec = tiny_model(workload, size, shape);
  spec.initial_std = 0.2;
  return spec;
}

inline ModelSpec small_maverick() {
  ModelSpec spec = small("pretrain_llama4_maverick", "400b");
  spec.shape.rotary_skip_interval = 2;
  spec.shape.attention_chunk_size = 3;
  return spec;
}

inline constexpr BatchSizes kBatch{2, 4};

inline void expect_same(const BackendStep& cuda, const BackendStep& cpu, double loss_tolerance,
                        double gradient_tolerance) {
  ASSERT_EQ(cuda.losses.size(), cpu.losses.size());
  for (std::size_t step = 0; step < cpu.losses.size(); ++step) {
    EXPECT_NEAR(cuda.losses[step] / cpu.losses[step], 1, loss_tolerance) << "step " << step;
  }
  EXPECT_NEAR(cuda.gradient_norm / cpu.gradient_norm, 1, gradient_tolerance);
  const auto largest = difference_of(cuda, cpu);
  EXPECT_LT(largest.relative, gradient_tolerance) << largest.where;
  std::cout << "loss " << cuda.losses.back() << ", the CPU's " << cpu.losses.back()
            << "; largest difference of a gradient " << largest.relative << " (" << largest.where
            << ")\n";
}

}  // namespace llmb::runner::testing
