// ProductTile: one block's tile of a product d (m, n) = or += a (m, k) b (k, n), of BF16 or pairs
// of FP8 by tensor cores, or of fp32, whichever way each operand lies. Its operands come to shared
// memory some depths ahead of the arithmetic. Included by .cu files only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runner/kernels/tensor_core.h"

// Before a loop whose turns index registers.
#if defined(__CUDACC__)
#define LLMB_UNROLL _Pragma("unroll")
#else
#define LLMB_UNROLL
#endif

namespace llmb::runner::kernels {

// As an operand lies: with k along its rows (m or n down its columns), or the other way round.
enum class KAxis { along_rows, down_columns };

inline constexpr int kProductThreads = 256;

// What the block's threads leave in shared memory of an operand: kTile of m or n times kDepth of k,
// laid as in device memory. Rows are 8 elements longer, which parts the banks of any eight rows.
template <KAxis kAxis, int kTile, int kDepth>
struct OperandTile {
  static constexpr bool kIsAlong = kAxis == KAxis::along_rows;
  static constexpr int kRows = kIsAlong ? kTile : kDepth;
  static constexpr int kCols = kIsAlong ? kDepth : kTile;
  static constexpr int kPitch = kCols + 8;
  static constexpr int kElements = kRows * kPitch;

  // Where element (outer, k) is.
  __device__ static int place(int outer, int k) {
    return kIsAlong ? outer * kPitch + k : k * kPitch + outer;
  }
};

// BF16, or pairs of FP8, which lie with k along their rows and count as one element of k: a warp
// has 64 rows and 32 columns of the block's 128 x 128, as fragments of 16 x 8.
template <typename A, typename B, KAxis kA, KAxis kB>
class ProductTile {
 public:
  static_assert(sizeof(A) == 2 && sizeof(B) == 2);
  static constexpr bool kIsBf16 = std::is_same_v<A, Bf16>;
  static_assert(kIsBf16 == std::is_same_v<B, Bf16>);
  static_assert(kIsBf16 || (kA == KAxis::along_rows && kB == KAxis::along_rows));
  static constexpr int kTile = 128;
  static constexpr int kDepth = 32;
  static constexpr int kStages = 4;
  using TileOfA = OperandTile<kA, kTile, kDepth>;
  using TileOfB = OperandTile<kB, kTile, kDepth>;
  static constexpr int kStageElements = TileOfA::kElements + TileOfB::kElements;
  static constexpr std::size_t kSharedBytes = sizeof(A) * kStages * kStageElements;

  // Matrices as they lie, of nothing but this product; the tile begins at row `first_m`, column
  // `first_n` of d.
  __device__ ProductTile(const Matrix<const A>& a, const Matrix<const B>& b, bool aligned,
                         std::int64_t first_m, std::int64_t first_n)
      : a_(a), b_(b), aligned_(aligned), first_m_(first_m), first_n_(first_n) {}

  __device__ void multiply(std::int64_t k) {
    const int steps = static_cast<int>((k + kDepth - 1) / kDepth);
    for (int step = 0; step < kStages - 1; ++step) begin_step(step, steps);
    for (int step = 0; step < steps; ++step) {
      wait_for_copies<kStages - 2>();
      __syncthreads();  // the copies of all, and the end of what reads the next one's place
      begin_step(step + kStages - 1, steps);
      multiply_step(step % kStages * kStageElements);
    }
    wait_for_copies<0>();
  }

  // store(row, column, first of two sums beside each other) for all that this thread has.
  template <typename Store>
  __device__ void for_sums(Store store) const {
    const int row = warp_row() + lane_index() / 4;
    const int column = warp_column() + lane_index() % 4 * 2;
    for (int i = 0; i < kFragmentsM; ++i) {
      for (int j = 0; j < kFragmentsN; ++j) {
        for (int half = 0; half < 2; ++half) {
          store(first_m_ + row + 16 * i + 8 * half, first_n_ + column + 8 * j,
                &sums_[i][j][2 * half]);
        }
      }
    }
  }

 private:
  static constexpr int kFragmentsM = 4;
  static constexpr int kFragmentsN = 4;

  __device__ static int warp_row() { return warp_index() / 4 * 64; }
  __device__ static int warp_column() { return warp_index() % 4 * 32; }
  __device__ static SharedBits shared() { return {0, std::int64_t{kStages} * kStageElements}; }

  // A group of copies for every step, be it empty, so that waiting counts steps.
  __device__ void begin_step(int step, int steps) const {
    if (step < steps) {
      const int base = step % kStages * kStageElements;
      const std::int64_t first_k = std::int64_t{step} * kDepth;
      copy<TileOfA>(a_, base, first_m_, first_k);
      copy<TileOfB>(b_, base + TileOfA::kElements, first_n_, first_k);
    }
    commit_copies();
  }

  // What lies outside of the matrix is zero.
  template <typename Tile, typename Element>
  __device__ void copy(const Matrix<const Element>& from, int base, std::int64_t first_outer,
                       std::int64_t first_k) const {
    constexpr int kPieces = Tile::kCols / 8;
    const std::int64_t first_row = Tile::kIsAlong ? first_outer : first_k;
    const std::int64_t first_column = Tile::kIsAlong ? first_k : first_outer;
    for (int piece = thread_index(); piece < Tile::kRows * kPieces; piece += kProductThreads) {
      const std::int64_t row = first_row + piece / kPieces;
      const std::int64_t column = first_column + piece % kPieces * 8;
      const int at = base + piece / kPieces * Tile::kPitch + piece % kPieces * 8;
      const std::int64_t left = row < from.rows ? from.cols - column : 0;
      const int count = left >= 8 ? 8 : left > 0 ? static_cast<int>(left) : 0;
      const Element* begin = count > 0 ? from.row(row) + column : from.data;
      if (aligned_) {
        begin_copy(shared(), at, begin, count);
      } else {
        for (int i = 0; i < 8; ++i) shared()[at + i] = i < count ? begin[i].bits : std::uint16_t{0};
      }
    }
  }

  __device__ void multiply_step(int base) {
    const int matrix = lane_index() / 8;
    const int row = lane_index() % 8;
    LLMB_UNROLL
    for (int k = 0; k < kDepth; k += 16) {
      std::uint32_t a[kFragmentsM][4];
      std::uint32_t b[kFragmentsN / 2][4];
      LLMB_UNROLL
      for (int i = 0; i < kFragmentsM; ++i) {
        load<TileOfA>(base, warp_row() + 16 * i + matrix % 2 * 8, k + matrix / 2 * 8, row, a[i]);
      }
      LLMB_UNROLL
      for (int j = 0; j < kFragmentsN / 2; ++j) {
        load<TileOfB>(base + TileOfA::kElements, warp_column() + 16 * j + matrix / 2 * 8,
                      k + matrix % 2 * 8, row, b[j]);
      }
      LLMB_UNROLL
      for (int i = 0; i < kFragmentsM; ++i) {
        LLMB_UNROLL
        for (int j = 0; j < kFragmentsN; ++j) {
          const std::uint32_t pair[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
          multiply_fragments<A, B>(sums_[i][j], a[i], pair);
        }
      }
    }
  }

  // Row `row` of the 8 x 8 elements that begin at (outer, k), for the lane that says where it is.
  template <typename Tile>
  __device__ static void load(int base, int outer, int k, int row, std::uint32_t (&words)[4]) {
    const int at = Tile::kIsAlong ? Tile::place(outer + row, k) : Tile::place(outer, k + row);
    load_fragments<!Tile::kIsAlong>(shared(), base + at, words);
  }

  Matrix<const A> a_;
  Matrix<const B> b_;
  bool aligned_;
  std::int64_t first_m_;
  std::int64_t first_n_;
  float sums_[kFragmentsM][kFragmentsN][4] = {};
};

// fp32: a thread has 4 x 4 of the block's 64 x 64.
template <KAxis kA, KAxis kB>
class ProductTile<float, float, kA, kB> {
 public:
  static constexpr int kTile = 64;
  static constexpr int kDepth = 16;
  using TileOfA = OperandTile<kA, kTile, kDepth>;
  using TileOfB = OperandTile<kB, kTile, kDepth>;
  static constexpr std::size_t kSharedBytes =
      sizeof(float) * (TileOfA::kElements + TileOfB::kElements);

  __device__ ProductTile(const Matrix<const float>& a, const Matrix<const float>& b,
                         bool /*aligned*/, std::int64_t first_m, std::int64_t first_n)
      : a_(a), b_(b), first_m_(first_m), first_n_(first_n) {}

  __device__ void multiply(std::int64_t k) {
    const SharedSpan<float> shared(0, TileOfA::kElements + TileOfB::kElements);
    for (std::int64_t first_k = 0; first_k < k; first_k += kDepth) {
      copy<TileOfA>(a_, shared, 0, first_m_, first_k);
      copy<TileOfB>(b_, shared, TileOfA::kElements, first_n_, first_k);
      __syncthreads();
      for (int depth = 0; depth < kDepth; ++depth) {
        for (int i = 0; i < kOwn; ++i) {
          const float a = shared[TileOfA::place(own_row() + i, depth)];
          for (int j = 0; j < kOwn; ++j) {
            sums_[i][j] += a * shared[TileOfA::kElements + TileOfB::place(own_column() + j, depth)];
          }
        }
      }
      __syncthreads();
    }
  }

  template <typename Store>
  __device__ void for_sums(Store store) const {
    for (int i = 0; i < kOwn; ++i) {
      for (int j = 0; j < kOwn; j += 2) {
        store(first_m_ + own_row() + i, first_n_ + own_column() + j, &sums_[i][j]);
      }
    }
  }

 private:
  static constexpr int kOwn = 4;

  __device__ static int own_row() { return thread_index() / (kTile / kOwn) * kOwn; }
  __device__ static int own_column() { return thread_index() % (kTile / kOwn) * kOwn; }

  template <typename Tile>
  __device__ static void copy(const Matrix<const float>& from, const SharedSpan<float>& to,
                              int base, std::int64_t first_outer, std::int64_t first_k) {
    const std::int64_t first_row = Tile::kIsAlong ? first_outer : first_k;
    const std::int64_t first_column = Tile::kIsAlong ? first_k : first_outer;
    for (int i = thread_index(); i < Tile::kRows * Tile::kCols; i += kProductThreads) {
      const std::int64_t row = first_row + i / Tile::kCols;
      const std::int64_t column = first_column + i % Tile::kCols;
      to[base + i / Tile::kCols * Tile::kPitch + i % Tile::kCols] =
          row < from.rows && column < from.cols ? from.row(row)[column] : 0.0F;
    }
  }

  Matrix<const float> a_;
  Matrix<const float> b_;
  std::int64_t first_m_;
  std::int64_t first_n_;
  float sums_[kOwn][kOwn] = {};
};

}  // namespace llmb::runner::kernels
