// Casts of whole matrices to BF16 and FP8, as runner/cpu/quantize.h emulates them, bit by bit: both
// layouts (as it lies, and transposed) from one read, with the largest element for the scale of a
// later step. Scales and maxima stay on the device.
#pragma once

#include <cstdint>

#include "runner/kernels/device_counts.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// The rows of a matrix that have a scale each, one expert's after the other's; and how many floats
// lie between the scales, or the maxima, of two of them.
struct ScaledRows {
  DeviceCounts counts;
  std::int64_t stride = 1;
};

// *largest = max(*largest, |x|), so it has to be zero before the first. Reads n h elements.
// In: float or Bf16. With `rows`, of each expert's.
template <typename In>
void absolute_max(Matrix<const In> x, float* largest, Stream stream);
template <typename In>
void absolute_max(const ScaledRows& rows, Matrix<const In> x, float* largest, Stream stream);

// scale = format_max / largest, which brings the largest to the format's maximum, or 1 where there
// is nothing to scale; inverse = 1 / scale, by which products are multiplied.
void fp8_scale(const float* largest, float format_max, float* scale, float* inverse, Stream stream);
// Of each of `count` experts, whose maxima are zero again afterwards.
struct ExpertScales {
  float* largest;
  float* scale;
  float* inverse;
  std::int64_t count;
  std::int64_t stride;          // floats from one expert's to the next's
  std::int64_t inverse_stride;  // the same of inverses
};
void fp8_scales(const ExpertScales& experts, float format_max, Stream stream);

// y = Out(x scale). Moves n h elements of In, and of Out one or two. Out: Bf16 or an FP8 format.
template <typename In, typename Out>
struct Cast {
  Matrix<const In> x;            // (n, h)
  const float* scale = nullptr;  // on the device; or absent, for 1
  Matrix<Out> y = {};            // (n, h); or absent
  Matrix<Out> transposed = {};   // (h, n); or absent
  float* largest = nullptr;      // becomes max(*largest, |x|); or absent
};
template <typename In, typename Out>
void cast(const Cast<In, Out>& operands, Stream stream);
// With a scale, and a largest element, for each expert's rows; transposed, these are the columns
// from the sum of the padded_expert_rows before them on, with zeros up to their own padded ones.
template <typename In, typename Out>
void cast(const ScaledRows& rows, const Cast<In, Out>& operands, Stream stream);

// MXFP8: E4M3 in blocks of 32 elements with a power of two each, along the rows, and down the
// columns, whose result is transposed, so that both have their blocks in one row; each is rounded
// from x itself. Scales lie as mx_scales.h says; those of the last tiles that stand for nothing are
// left as they are. Moves n h elements of In, and for each layout n h bytes and a 32nd of that.
// Source: OCP Microscaling Formats 1.0.
template <typename In>
struct MxCast {
  Matrix<const In> x;                         // (n, h)
  Matrix<Fp8E4m3> y = {};                     // (n, h); or absent
  std::uint8_t* scales = nullptr;             // mx_scale_bytes(n, h), with y
  Matrix<Fp8E4m3> transposed = {};            // (h, n); or absent
  std::uint8_t* transposed_scales = nullptr;  // mx_scale_bytes(h, n), with transposed
};
template <typename In>
void mx_cast(const MxCast<In>& operands, Stream stream);

// Delayed scaling, at a step's end, for many matrices at once: the largest element of the step
// enters the history, the scale of the next step follows from the largest of the history, and the
// step begins anew.
struct AmaxStep {
  Matrix<float> history;       // (matrices, steps remembered)
  std::int64_t step;           // from 0: where in the history the step is written, going round
  float* step_maxima;          // (matrices), zero afterwards
  const float* format_maxima;  // (matrices)
  float* scales;               // (matrices)
  float* inverses;             // (matrices)
};
void end_amax_step(const AmaxStep& operands, Stream stream);

}  // namespace llmb::runner::kernels
