// DeviceCounts: how many rows each of several experts has, whose rows lie one expert's after the
// other's in a matrix. Where the counts stand on the device the host never learns them: its grids
// have the tiles that the rows could need however they fall, and those that nobody needs end at
// once.
#pragma once

#include <cstdint>

#include "runner/kernels/portable.h"

namespace llmb::runner::kernels {

// Together they are no more rows than the matrix has; what is beyond them is left as it is.
struct DeviceCounts {
  const std::int32_t* rows = nullptr;  // on the device; or absent: of each expert `each`
  std::int64_t experts = 1;
  std::int64_t each = 0;

  LLMB_BOTH std::int64_t of(std::int64_t expert) const { return rows ? rows[expert] : each; }
  // Tiles of so many rows, where each expert begins one of its own, of a matrix of `all` rows.
  std::int64_t tiles_max(std::int64_t all, std::int64_t tile_rows) const {
    if (rows == nullptr) return experts * ((each + tile_rows - 1) / tile_rows);
    return all == 0 ? 0 : all / tile_rows + experts;
  }
};

// Transposed, an expert's rows are columns, and they are summed over: in FP8 each expert's begin at
// a multiple of 16 bytes, and zeros are behind them.
LLMB_BOTH constexpr std::int64_t padded_expert_rows(std::int64_t rows) {
  constexpr std::int64_t kMultiple = 16;
  return (rows + kMultiple - 1) / kMultiple * kMultiple;
}
// Columns that are enough for `all` rows, however they fall.
constexpr std::int64_t padded_rows_max(std::int64_t all, std::int64_t experts) {
  return padded_expert_rows(all) + padded_expert_rows(1) * experts;
}

}  // namespace llmb::runner::kernels
