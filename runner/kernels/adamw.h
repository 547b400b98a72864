// AdamW with decoupled weight decay and bias correction over many stretches of parameters in one
// launch. The factor that clips gradients is read on the device. The BF16 copy that matrix products
// take is another kernel's. Source: Loshchilov and Hutter 2019.
#pragma once

#include <cstdint>

#include "runner/kernels/segment.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// Moves 28 bytes a parameter.
struct AdamWSegment {
  const float* gradients;
  float* parameters;
  float* first_moments;
  float* second_moments;
  std::int64_t count = 0;
  bool decays = true;
  bool aligned = false;  // set by place_segments, as is first_block
  std::int64_t first_block = 0;

  bool is_aligned() const {
    return are_aligned(gradients, parameters, first_moments, second_moments);
  }
};

// What one step multiplies by.
struct AdamWStep {
  float beta1, beta2;
  float step_size;   // learning rate / (1 - beta1^step)
  float correction;  // 1 / sqrt(1 - beta2^step)
  float epsilon;
  float keep;  // 1 - learning rate * weight decay
};
// `step` counts from 1.
AdamWStep make_adamw_step(double learning_rate, double beta1, double beta2, double epsilon,
                          double weight_decay, std::int64_t step);

// `segments` lie on the device, placed; `blocks` as place_segments said. Gradients are multiplied
// by *gradient_scale first; where that is NaN, nothing changes.
void adamw_update(const AdamWStep& step, const AdamWSegment* segments, int segment_count,
                  std::int64_t blocks, const double* gradient_scale, Stream stream);

}  // namespace llmb::runner::kernels
