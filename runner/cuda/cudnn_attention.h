// Attention as a graph of cuDNN: products, softmax and mask spelled out, which cuDNN recognises and
// serves by one fused kernel (its own attention operation has no causal mask, in 9.19). One piece
// of queries against all keys up to its own. Real sources only.
#pragma once

#include <memory>

#include "runner/cuda/attention.h"
#include "runner/cuda/cudnn_graph.h"

namespace llmb::runner::cuda {

// Queries [0, query_count) are the last ones of the sequence that the keys are: query i sees keys
// up to key_count - query_count + i.
struct CudnnAttentionShape {
  std::int64_t batch = 1;
  std::int64_t head_count = 0;
  std::int64_t group_count = 0;
  std::int64_t head_size = 0;
  std::int64_t query_count = 0;
  std::int64_t key_count = 0;
  // Elements from one row to the next; rows are (position, sample).
  std::int64_t q_stride = 0;
  std::int64_t k_stride = 0;
  std::int64_t v_stride = 0;
  std::int64_t o_stride = 0;
  std::int64_t d_o_stride = 0;
  std::int64_t dq_stride = 0;
  std::int64_t dk_stride = 0;
  std::int64_t dv_stride = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 means the 0 inside a default comparison
  auto operator<=>(const CudnnAttentionShape&) const = default;
};

class CudnnAttentionForward {
 public:
  // Throws DeviceError where no engine serves the shape.
  CudnnAttentionForward(const CudnnAttentionShape& shape, const CudnnTarget& target);
  std::int64_t workspace_bytes() const { return plan_->workspace_bytes(); }
  const std::string& engine() const { return plan_->engine(); }
  // `statistics`: (b, heads, sq) floats.
  void run(cudnnHandle_t handle, const void* q, const void* k, const void* v, void* o,
           float* statistics, void* workspace) const;

 private:
  CudnnGraph graph_;
  CudnnGraph::Tensor q_, k_, v_, o_, statistics_, scale_, minus_infinity_, shift_;
  float scale_value_;
  std::int32_t shift_value_;
  std::unique_ptr<CudnnPlan> plan_;
};

class CudnnAttentionBackward {
 public:
  CudnnAttentionBackward(const CudnnAttentionShape& shape, const CudnnTarget& target);
  // Of cuDNN and of what lies between the graph's kernels: sums, dq in fp32, and with grouped
  // queries every head's dk and dv.
  std::int64_t workspace_bytes() const;
  const std::string& engine() const { return plan_->engine(); }
  struct Operands {
    const void *q, *k, *v, *o, *d_o;
    const float* statistics;
    void *dq, *dk, *dv;
  };
  // Puts the work on `stream`, which is the handle's.
  void run(cudnnHandle_t handle, const Operands& operands, std::byte* workspace,
           Stream stream) const;

 private:
  CudnnGraph::Tensor probabilities(const CudnnAttentionShape& shape, CudnnGraph::Tensor q,
                                   CudnnGraph::Tensor k_transposed);
  CudnnGraph::Tensor transposed(CudnnGraph::Tensor x);
  void product_of_heads(CudnnGraph::Tensor a, CudnnGraph::Tensor b, CudnnGraph::Tensor result,
                        CudnnGraph::Tensor of_all_heads);

  CudnnAttentionShape shape_;
  CudnnGraph graph_;
  CudnnGraph::Tensor q_, k_, v_, o_, d_o_, statistics_, dq_, dk_, dv_;
  CudnnGraph::Tensor sums_, dq_sum_, dk_heads_ = 0, dv_heads_ = 0;
  CudnnGraph::Tensor scale_, one_, minus_infinity_, shift_ = 0;
  float scale_value_;
  std::int32_t shift_value_;
  std::unique_ptr<CudnnPlan> plan_;
};

}  // namespace llmb::runner::cuda
