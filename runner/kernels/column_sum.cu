#include "runner/kernels/column_sum.h"

#include "runner/kernels/device.h"

namespace llmb::runner::kernels {
namespace {

// A warp has 32 columns of every kWarps-th row.
struct ColumnSumKernel {
  static constexpr int kThreadsMax = 256;
  static constexpr int kWarps = kThreadsMax / kWarp;

  Matrix<const float> partials;
  float* totals;

  __device__ void operator()() const {
    __shared__ Shared<float, kThreadsMax> sums;
    const std::int64_t column = block_x() * kWarp + lane_index();
    float sum = 0;
    if (column < partials.cols) {
      for (std::int64_t i = warp_index(); i < partials.rows; i += kWarps) {
        sum += partials.row(i)[column];
      }
    }
    sums[thread_index()] = sum;
    __syncthreads();
    if (warp_index() != 0 || column >= partials.cols) return;
    float total = 0;
    for (int warp = 0; warp < kWarps; ++warp) total += sums[warp * kWarp + lane_index()];
    totals[column] += total;
  }
};

}  // namespace

void add_column_sums(Matrix<const float> partials, float* totals, Stream stream) {
  launch(ColumnSumKernel{partials, totals}, {blocks_for(partials.cols, kWarp)},
         ColumnSumKernel::kThreadsMax, 0, stream);
}

}  // namespace llmb::runner::kernels
