#include "runner/kernels/expert_rows.h"

#include "runner/kernels/device.h"

// Before a loop that nvcc is not to unroll.
#if defined(__CUDACC__)
#define LLMB_NO_UNROLL _Pragma("unroll 1")
#else
#define LLMB_NO_UNROLL
#endif

namespace llmb::runner::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kSortThreads = 512;

// A block has an expert: counts the slots of the experts before it, then gives its own slots their
// rows, a tile of slots after the other.
struct SortByExpertKernel {
  static constexpr int kThreadsMax = kSortThreads;

  ExpertOrder in;

  __device__ void operator()() const {
    const auto expert = static_cast<std::int32_t>(block_x());
    int before = 0;
    int own = 0;
    for (std::int64_t slot = thread_index(); slot < in.slots; slot += thread_count()) {
      before += in.choices[slot] < expert ? 1 : 0;
      own += in.choices[slot] == expert ? 1 : 0;
    }
    int row = block_reduce(before);
    own = block_reduce(own);
    if (thread_index() == 0) in.rows_of_expert[expert] = own;
    for (std::int64_t first = 0; first < in.slots; first += thread_count()) {
      row += place_tile(expert, first + thread_index(), row);
    }
  }

  // Returns how many of the tile's slots are the expert's; the first of them has row `row`.
  __device__ int place_tile(std::int32_t expert, std::int64_t slot, int row) const {
    __shared__ Shared<int, kWarp> of_warps;
    const bool is_own = slot < in.slots && in.choices[slot] == expert;
    const unsigned lanes = __ballot_sync(0xffffffffU, is_own);
    if (lane_index() == 0) of_warps[warp_index()] = __popc(lanes);
    __syncthreads();
    int before = __popc(lanes & ((1U << static_cast<unsigned>(lane_index())) - 1U));
    int total = 0;
    for (int warp = 0; warp < warp_count(); ++warp) {
      const int count = of_warps[warp];
      before += warp < warp_index() ? count : 0;
      total += count;
    }
    if (is_own) in.row_of_slot[slot] = row + before;
    __syncthreads();  // the next tile writes again
    return total;
  }
};

// A block has what one source brings for one expert.
struct ArrivalsKernel {
  static constexpr int kThreadsMax = kThreads;

  Arrivals in;

  __device__ void operator()() const {
    const std::int64_t source = block_x() / in.experts;
    const std::int64_t expert = block_x() % in.experts;
    int from = 0;   // rows that came before
    int to = 0;     // rows that stand before
    int total = 0;  // of the expert
    for (std::int64_t i = thread_index(); i < in.sources * in.experts; i += thread_count()) {
      const int count = in.counts[i];
      const std::int64_t of_expert = i % in.experts;
      const bool is_before = of_expert < expert || (of_expert == expert && i / in.experts < source);
      from += i < block_x() ? count : 0;
      to += is_before ? count : 0;
      total += of_expert == expert ? count : 0;
    }
    from = block_reduce(from);
    to = block_reduce(to);
    total = block_reduce(total);
    if (source == 0 && thread_index() == 0) in.rows_of_expert[expert] = total;
    const int count = in.counts[block_x()];
    for (int i = thread_index(); i < count; i += thread_count()) in.order[from + i] = to + i;
  }
};

template <typename T>
struct ScatterKernel {
  static constexpr int kThreadsMax = kThreads;

  const std::int32_t* row_of_slot;
  std::int64_t top_k;
  const float* weights;
  Matrix<const T> x;
  Matrix<T> rows;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t first = block_x() * top_k;
    sweep<T>(x.cols, aligned, [&](auto width, std::int64_t at) {
      const auto values = load<width>(x.row(block_x()) + at);
      LLMB_NO_UNROLL  // four rows at once would spill
          for (std::int64_t slot = first; slot < first + top_k; ++slot) {
        const float weight = weights ? weights[slot] : 1.0F;
        Floats<width> scaled;
        for (int i = 0; i < width; ++i) scaled[i] = weight * values[i];
        store(scaled, rows.row(row_of_slot[slot]) + at);
      }
    });
  }
};

template <typename T>
struct CombineKernel {
  static constexpr int kThreadsMax = kThreads;

  const std::int32_t* row_of_slot;
  std::int64_t top_k;
  const float* weights;
  Matrix<const T> rows;
  Matrix<T> y;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t first = block_x() * top_k;
    sweep<T>(y.cols, aligned, [&](auto width, std::int64_t at) {
      Floats<width> sum = {};
      for (std::int64_t slot = first; slot < first + top_k; ++slot) {
        const float weight = weights ? weights[slot] : 1.0F;
        const auto values = load<width>(rows.row(row_of_slot[slot]) + at);
        for (int i = 0; i < width; ++i) sum[i] += weight * values[i];
      }
      store(sum, y.row(block_x()) + at);
    });
  }
};

template <typename T>
struct DotKernel {
  static constexpr int kThreadsMax = kThreads;

  const std::int32_t* row_of_slot;
  std::int64_t top_k;
  Matrix<const T> x;
  Matrix<const T> rows;
  float* dots;
  bool aligned;

  __device__ void operator()() const {
    const std::int64_t slot = block_x();
    const T* a = x.row(slot / top_k);
    const T* b = rows.row(row_of_slot[slot]);
    float sum = 0;
    sweep<T>(x.cols, aligned, [&](auto width, std::int64_t at) {
      const auto left = load<width>(a + at);
      const auto right = load<width>(b + at);
      for (int i = 0; i < width; ++i) sum += left[i] * right[i];
    });
    sum = block_reduce(sum);
    if (thread_index() == 0) dots[slot] = sum;
  }
};

}  // namespace

void sort_by_expert(const ExpertOrder& operands, Stream stream) {
  launch(SortByExpertKernel{operands}, {operands.experts}, kSortThreads, 0, stream);
}

void order_arrivals(const Arrivals& operands, Stream stream) {
  launch(ArrivalsKernel{operands}, {operands.sources * operands.experts}, kThreads, 0, stream);
}

template <typename T>
void scatter_to_experts(const std::int32_t* row_of_slot, std::int64_t top_k, const float* weights,
                        Matrix<const T> x, Matrix<T> rows, Stream stream) {
  launch(ScatterKernel<T>{row_of_slot, top_k, weights, x, rows, are_aligned(x, rows)}, {x.rows},
         kThreads, 0, stream);
}

template <typename T>
void combine_from_experts(const std::int32_t* row_of_slot, std::int64_t top_k, const float* weights,
                          Matrix<const T> rows, Matrix<T> y, Stream stream) {
  launch(CombineKernel<T>{row_of_slot, top_k, weights, rows, y, are_aligned(rows, y)}, {y.rows},
         kThreads, 0, stream);
}

template <typename T>
void dot_with_experts(const std::int32_t* row_of_slot, std::int64_t top_k, Matrix<const T> x,
                      Matrix<const T> rows, float* dots, Stream stream) {
  launch(DotKernel<T>{row_of_slot, top_k, x, rows, dots, are_aligned(x, rows)}, {x.rows * top_k},
         kThreads, 0, stream);
}

template void scatter_to_experts(const std::int32_t*, std::int64_t, const float*,
                                 Matrix<const float>, Matrix<float>, Stream);
template void scatter_to_experts(const std::int32_t*, std::int64_t, const float*,
                                 Matrix<const Bf16>, Matrix<Bf16>, Stream);
template void combine_from_experts(const std::int32_t*, std::int64_t, const float*,
                                   Matrix<const float>, Matrix<float>, Stream);
template void combine_from_experts(const std::int32_t*, std::int64_t, const float*,
                                   Matrix<const Bf16>, Matrix<Bf16>, Stream);
template void dot_with_experts(const std::int32_t*, std::int64_t, Matrix<const float>,
                               Matrix<const float>, float*, Stream);
template void dot_with_experts(const std::int32_t*, std::int64_t, Matrix<const Bf16>,
                               Matrix<const Bf16>, float*, Stream);

}  // namespace llmb::runner::kernels
