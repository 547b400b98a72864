// What the attention kernels share: tiles of rows in shared memory, which keys a query sees, and
// products of a warp's rows with a tile's. A warp has kRows rows of its own side (queries, or keys
// in the backward pass of these); the lanes are the rows of the other side's tile. Included by
// attention's .cu files only.
#pragma once

#include "runner/kernels/attention.h"
#include "runner/kernels/device.h"

namespace llmb::runner::kernels {

inline constexpr int kAttentionThreads = 128;
inline constexpr int kRows = 4;                                       // of a warp
inline constexpr int kOwnTile = kRows * (kAttentionThreads / kWarp);  // of a block
inline constexpr int kOtherTile = kWarp;                              // one a lane

// Rows in shared memory, as floats; a pitch of d + 1 parts the lanes' banks.
class RowTile {
 public:
  // `rows` rows after `rows_before` of other tiles.
  __device__ RowTile(int rows_before, int rows, std::int64_t head_size)
      : rows_(rows),
        pitch_(head_size + 1),
        values_(static_cast<std::size_t>(rows_before * pitch_) * sizeof(float), rows * pitch_) {}

  // The rows from `first` on, of one head of one sample; zeros from `end` on.
  template <typename T>
  __device__ void read(const AttentionShape& shape, const Matrix<const T>& from,
                       std::int64_t sample, std::int64_t head, std::int64_t first,
                       std::int64_t end) const {
    const int size = static_cast<int>(shape.head_size);
    for (int i = thread_index(); i < rows_ * size; i += thread_count()) {
      const std::int64_t row = first + i / size;
      const bool is_inside = row < end;
      values_[i / size * pitch_ + i % size] =
          is_inside ? to_float(from.row(row * shape.batch + sample)[head * size + i % size]) : 0.0F;
    }
  }
  __device__ float at(int row, std::int64_t feature) const {
    return values_[row * pitch_ + feature];
  }

 private:
  int rows_;
  std::int64_t pitch_;
  SharedSpan<float> values_;
};

inline std::size_t tile_bytes(int rows, std::int64_t head_size) {
  return static_cast<std::size_t>(rows * (head_size + 1)) * sizeof(float);
}

// dots[r] = own row r of this warp . the lane's row of the other tile
__device__ inline Floats<kRows> dot_rows(const RowTile& own, const RowTile& other,
                                         std::int64_t head_size) {
  Floats<kRows> dots = {};
  for (std::int64_t f = 0; f < head_size; ++f) {
    const float theirs = other.at(lane_index(), f);
    for (int r = 0; r < kRows; ++r) dots[r] += own.at(warp_index() * kRows + r, f) * theirs;
  }
  return dots;
}

// Features lane, lane + 32, … of the warp's rows.
template <int kFeatures>
struct RowSums {
  float values[kRows][kFeatures] = {};

  // += sum over the other tile's rows of weight (lane = row) times that row
  __device__ void add(const Floats<kRows>& weights, const RowTile& other, std::int64_t head_size) {
    for (int row = 0; row < kOtherTile; ++row) {
      Floats<kRows> weight;
      for (int r = 0; r < kRows; ++r) weight[r] = __shfl_sync(0xffffffffU, weights[r], row);
      for (int i = 0; i < kFeatures; ++i) {
        const int feature = i * kWarp + lane_index();
        if (feature >= head_size) continue;
        const float theirs = other.at(row, feature);
        for (int r = 0; r < kRows; ++r) values[r][i] += weight[r] * theirs;
      }
    }
  }

  template <typename T>
  __device__ void write(int r, float factor, std::int64_t head_size, T* row) const {
    for (int i = 0; i < kFeatures; ++i) {
      const int feature = i * kWarp + lane_index();
      if (feature < head_size) row[feature] = from_float<T>(values[r][i] * factor);
    }
  }
};

// Keys [begin, end) that a query sees; none for a query that does not exist.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  __device__ static KeyRange of_query(const AttentionShape& shape, std::int64_t query) {
    if (query >= shape.query_count) return {};
    const std::int64_t position = shape.query_positions[query];
    const std::int64_t chunk = shape.chunk_size;
    return {chunk > 0 ? position / chunk * chunk : 0, position + 1};
  }
  __device__ bool has(std::int64_t key) const { return key >= begin && key < end; }
};

}  // namespace llmb::runner::kernels
