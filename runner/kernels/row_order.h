// Rows of a matrix in another order, there and back: pieces of the sequence as context and tensor
// parallelism need them. Moves 2 n h elements. T: float or Bf16.
#pragma once

#include <cstdint>

#include "runner/kernels/matrix.h"
#include "runner/kernels/number.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// out[i] = in[order[i]]; order (rows of out), on the device
template <typename T>
void take_rows(const std::int32_t* order, Matrix<const T> in, Matrix<T> out, Stream stream);
// out[order[i]] = in[i]; order (rows of in), no row twice
template <typename T>
void put_rows(const std::int32_t* order, Matrix<const T> in, Matrix<T> out, Stream stream);

}  // namespace llmb::runner::kernels
