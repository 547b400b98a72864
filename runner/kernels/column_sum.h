// Column sums of partial results: what several blocks found for the same columns, added up in the
// order of the blocks, so that no run differs from another by a bit.
#pragma once

#include "runner/kernels/matrix.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::kernels {

// The most blocks that share the rows of a matrix where each of them has a row of partial sums.
inline constexpr std::int64_t kPartialRows = 256;

// Blocks, and rows of partial sums, for a matrix of so many rows.
inline std::int64_t partial_rows(std::int64_t rows) {
  return rows < kPartialRows ? rows : kPartialRows;
}

// partials (p, h) -> totals (h), added to. Moves 4 p h bytes.
void add_column_sums(Matrix<const float> partials, float* totals, Stream stream);

}  // namespace llmb::runner::kernels
