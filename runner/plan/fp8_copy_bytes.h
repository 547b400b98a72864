// What an FP8 copy of a matrix takes on CUDA, in one layout, without what pads its rows.
#pragma once

#include <cstdint>

#include "runner/kernels/mx_scales.h"
#include "runner/model/precision.h"

namespace llmb::runner {

// A byte an element; in blocks, with the whole tiles of their scales.
constexpr std::int64_t fp8_copy_bytes(Precision precision, std::int64_t rows, std::int64_t cols) {
  const bool has_blocks = precision == Precision::mxfp8;
  return rows * cols + (has_blocks ? kernels::mx_scale_bytes(rows, cols) : 0);
}

}  // namespace llmb::runner
