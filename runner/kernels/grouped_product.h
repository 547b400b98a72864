// The three products of experts' linear layers, whose rows are sorted by expert: how many each has
// stands on the device, and the host never learns it. BF16 and FP8 go over tensor cores; fp32, for
// comparisons, over plain arithmetic. Sums are fp32, in an order that only the counts decide.
//
// Where the host knows the counts, a library's product an expert is quicker for many rows an expert
// (gemm.h); this one has no wait, and one launch for all.
#pragma once

#include <cstdint>

#include "runner/kernels/device_counts.h"
#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// T: float or Bf16. Weights of all experts lie one below the other, (experts * out, in); 16 bytes
// are copied at a time where rows begin at multiples of 16 bytes. Reads rows (in + out) elements
// and the weights of experts that have rows, once a band of tiles.
//
// y[r] = W_e x[r]; x (rows, in) -> y (rows, out)
template <typename T>
void grouped_forward(const DeviceCounts& counts, Matrix<const T> x, Matrix<const T> weight,
                     Matrix<T> y, Stream stream);
// dx[r] = W_e^T dy[r]; dy (rows, out) -> dx (rows, in)
template <typename T>
void grouped_backward_input(const DeviceCounts& counts, Matrix<const T> dy, Matrix<const T> weight,
                            Matrix<T> dx, Stream stream);
// dW_e += dy_e^T x_e; dweight (experts * out, in)
template <typename T>
void grouped_backward_weight(const DeviceCounts& counts, Matrix<const T> x, Matrix<const T> dy,
                             Matrix<float> dweight, Stream stream);

// The same of FP8, whose products take both operands with what they sum over along their rows, each
// row beginning at a multiple of 16 bytes and ending in zeros up to one; so kernels/quantize.h
// casts experts' rows. An expert's product is multiplied by both of its inverses, one float each,
// `stride` floats after those of the expert before. T: float or Bf16.
struct ExpertInverses {
  const float* of_rows = nullptr;     // of x, or of dy
  const float* of_weights = nullptr;  // of dW: of x
  std::int64_t stride = 0;
};

// y[r] = W_e x[r]; x (rows, in), weight (experts * out, in)
template <typename T>
void grouped_fp8_forward(const DeviceCounts& counts, const ExpertInverses& inverses,
                         Matrix<const Fp8E4m3> x, Matrix<const Fp8E4m3> weight, Matrix<T> y,
                         Stream stream);
// dx[r] = W_e^T dy[r]; dy (rows, out), weights transposed and side by side, each of them as many
// columns: (in, experts * padded out)
template <typename T>
void grouped_fp8_backward_input(const DeviceCounts& counts, const ExpertInverses& inverses,
                                Matrix<const Fp8E5m2> dy, Matrix<const Fp8E4m3> weights,
                                Matrix<T> dx, Stream stream);
// dW_e += dy_e^T x_e; x and dy transposed, an expert's rows being columns from the sum of the
// padded_expert_rows before them on: (in, rows), (out, rows)
void grouped_fp8_backward_weight(const DeviceCounts& counts, const ExpertInverses& inverses,
                                 Matrix<const Fp8E4m3> x, Matrix<const Fp8E5m2> dy,
                                 Matrix<float> dweight, Stream stream);

}  // namespace llmb::runner::kernels
