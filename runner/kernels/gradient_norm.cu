#include "runner/kernels/gradient_norm.h"

#include <cmath>
#include <limits>

#include "runner/kernels/device.h"
#include "runner/kernels/elementwise.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

struct SumOfSquaresKernel {
  static constexpr int kThreadsMax = kThreads;

  const GradientSegment* segments;
  int segment_count;
  double* partials;

  __device__ void operator()() const {
    const GradientSegment segment = segment_of_block(segments, segment_count, block_x());
    const std::int64_t begin = (block_x() - segment.first_block) * kSegmentPiece;
    const std::int64_t left = segment.count - begin;
    const float* gradients = segment.gradients + begin;
    double sum = 0;
    sweep<float>(left < kSegmentPiece ? left : kSegmentPiece, segment.aligned,
                 [&](auto width, std::int64_t at) {
                   const auto values = load<width>(gradients + at);
                   for (int i = 0; i < width; ++i) {
                     sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
                   }
                 });
    sum = block_reduce(sum);
    if (thread_index() == 0) partials[block_x()] = sum;
  }
};

struct ClipFactorKernel {
  static constexpr int kThreadsMax = kWarp;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

  const double* sum_of_squares;
  double max_norm;
  double* norm;
  double* scale;

  __device__ void operator()() const {
    if (thread_index() != 0) return;
    const double value = sqrt(*sum_of_squares);
    const bool is_clipped = max_norm > 0 && value > max_norm;
    *norm = value;
    *scale = is_clipped ? max_norm / (value + 1e-6) : 1.0;
    if (!(value < kInfinity)) *scale = kNotANumber;
  }
};

}  // namespace

void sum_of_squares(const GradientSegment* segments, int segment_count, std::int64_t blocks,
                    double* partials, double* total, Stream stream) {
  launch(SumOfSquaresKernel{segments, segment_count, partials}, {blocks}, kThreads, 0, stream);
  sum_values(partials, blocks, total, false, stream);
}

void clip_factor(const double* sum_of_squares, double max_norm, double* norm, double* scale,
                 Stream stream) {
  launch(ClipFactorKernel{sum_of_squares, max_norm, norm, scale}, {1}, kWarp, 0, stream);
}

}  // namespace llmb::runner::kernels
