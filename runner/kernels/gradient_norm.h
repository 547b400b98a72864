// The norm of all gradients and the factor that clips them, without a look from the host: the sum
// of squares of many stretches, then, after a sum over the ranks, norm and factor. Sums are in
// double precision and in an order that only the stretches decide.
#pragma once

#include <cstdint>

#include "runner/kernels/segment.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

struct GradientSegment {
  const float* gradients;
  std::int64_t count = 0;
  bool aligned = false;  // set by place_segments, as is first_block
  std::int64_t first_block = 0;

  bool is_aligned() const { return are_aligned(gradients); }
};

// `segments` lie on the device, placed; partials (blocks) is workspace. Reads every gradient once.
void sum_of_squares(const GradientSegment* segments, int segment_count, std::int64_t blocks,
                    double* partials, double* total, Stream stream);

// norm = sqrt(sum of squares); scale brings it to max_norm at most, 1 where max_norm is 0, NaN
// where the norm is no number, so that the update leaves everything as it is.
void clip_factor(const double* sum_of_squares, double max_norm, double* norm, double* scale,
                 Stream stream);

}  // namespace llmb::runner::kernels
