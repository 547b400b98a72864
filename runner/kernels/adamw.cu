#include "runner/kernels/adamw.h"

#include <cmath>

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;

struct AdamWKernel {
  static constexpr int kThreadsMax = kThreads;

  AdamWStep step;
  const AdamWSegment* segments;
  int segment_count;
  const double* gradient_scale;

  __device__ void operator()() const {
    const AdamWSegment segment = segment_of_block(segments, segment_count, block_x());
    const std::int64_t begin = (block_x() - segment.first_block) * kSegmentPiece;
    const std::int64_t left = segment.count - begin;
    const auto scale = static_cast<float>(*gradient_scale);
    if (scale != scale) return;
    const float keep = segment.decays ? step.keep : 1.0F;
    // Four at a time: the fp32 states of eight would take twice the registers.
    sweep<float>(left < kSegmentPiece ? left : kSegmentPiece, segment.aligned,
                 [&](auto width, std::int64_t offset) {
                   update(width, segment, begin + offset, scale, keep);
                 });
  }

  template <int kWidth>
  __device__ void update(Width<kWidth>, const AdamWSegment& segment, std::int64_t at, float scale,
                         float keep) const {
    const auto gradients = load<kWidth>(segment.gradients + at);
    auto parameters = load<kWidth>(segment.parameters + at);
    auto first = load<kWidth>(segment.first_moments + at);
    auto second = load<kWidth>(segment.second_moments + at);
    for (int i = 0; i < kWidth; ++i) {
      const float gradient = gradients[i] * scale;
      first[i] = step.beta1 * first[i] + (1.0F - step.beta1) * gradient;
      second[i] = step.beta2 * second[i] + (1.0F - step.beta2) * gradient * gradient;
      parameters[i] =
          keep * parameters[i] -
          step.step_size * first[i] / (sqrtf(second[i]) * step.correction + step.epsilon);
    }
    store(parameters, segment.parameters + at);
    store(first, segment.first_moments + at);
    store(second, segment.second_moments + at);
  }
};

}  // namespace

AdamWStep make_adamw_step(double learning_rate, double beta1, double beta2, double epsilon,
                          double weight_decay, std::int64_t step) {
  const auto exponent = static_cast<double>(step);
  return {static_cast<float>(beta1),
          static_cast<float>(beta2),
          static_cast<float>(learning_rate / (1 - std::pow(beta1, exponent))),
          static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, exponent))),
          static_cast<float>(epsilon),
          static_cast<float>(1 - learning_rate * weight_decay)};
}

void adamw_update(const AdamWStep& step, const AdamWSegment* segments, int segment_count,
                  std::int64_t blocks, const double* gradient_scale, Stream stream) {
  launch(AdamWKernel{step, segments, segment_count, gradient_scale}, {blocks}, kThreads, 0, stream);
}

}  // namespace llmb::runner::kernels
