// The three products of experts' linear layers, whose rows are sorted by expert: how many each has
// stands on the device, and the host never learns it. A grid has the tiles that the rows could need
// however they fall, and those that they do not need end at once. BF16 goes over tensor cores;
// fp32, for comparisons, over plain arithmetic. Sums are fp32, in an order that only the counts
// decide.
//
// Where the host knows the counts, a library's product an expert is quicker for many rows an expert
// (gemm.h); this one has no wait, and one launch for all.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// rows[e] rows are of expert e, those of expert 0 first; together they are no more than the
// matrices have. On the device.
struct DeviceCounts {
  const std::int32_t* rows;
  std::int64_t experts;
};

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

}  // namespace llmb::runner::kernels
