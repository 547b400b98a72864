#include "runner/cuda/cudnn_attention.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "runner/cuda/memory.h"

namespace llmb::runner::cuda {
namespace {

using Extents = CudnnGraph::Extents;
using GraphTensor = CudnnGraph::Tensor;
using Kind = CudnnGraph::Kind;

const float kMinusInfinity = -std::numeric_limits<float>::infinity();
const float kOne = 1;

// (b, heads, positions, features) of rows (position, sample).
Extents head_strides(const CudnnAttentionShape& shape, std::int64_t row_stride) {
  return {row_stride, shape.head_size, shape.batch * row_stride, 1};
}

Extents swapped(const Extents& extents) {
  return {extents[0], extents[1], extents[3], extents[2]};
}

Extents queries(const CudnnAttentionShape& shape) {
  return {shape.batch, shape.head_count, shape.query_count, shape.head_size};
}
Extents keys(const CudnnAttentionShape& shape) {
  return {shape.batch, shape.group_count, shape.key_count, shape.head_size};
}
Extents scores(const CudnnAttentionShape& shape) {
  return {shape.batch, shape.head_count, shape.query_count, shape.key_count};
}
Extents rows(const CudnnAttentionShape& shape) {
  return {shape.batch, shape.head_count, shape.query_count, 1};
}
Extents all_heads(const CudnnAttentionShape& shape) {
  return {shape.batch, shape.head_count, shape.key_count, shape.head_size};
}

float scale_of(const CudnnAttentionShape& shape) {
  return 1 / std::sqrt(static_cast<float>(shape.head_size));
}

// Where a query may not look stands minus infinity. `shift` (int32) is how many positions the first
// query is behind the first key; 0 for no such tensor.
GraphTensor masked(CudnnGraph& graph, GraphTensor score, GraphTensor shift,
                   GraphTensor minus_infinity) {
  const Extents extents = graph.extents(score);
  GraphTensor row = graph.inner(extents, CUDNN_DATA_INT32);
  const GraphTensor column = graph.inner(extents, CUDNN_DATA_INT32);
  graph.index(score, 2, row);
  if (shift != 0) {
    const GraphTensor shifted = graph.inner(extents, CUDNN_DATA_INT32);
    graph.pointwise(CUDNN_POINTWISE_ADD, row, shift, shifted, CUDNN_DATA_INT32);
    row = shifted;
  }
  graph.index(score, 3, column);
  const GraphTensor mask = graph.inner(extents, CUDNN_DATA_BOOLEAN);
  graph.pointwise(CUDNN_POINTWISE_CMP_GE, row, column, mask, CUDNN_DATA_BOOLEAN);
  const GraphTensor result = graph.inner(extents);
  graph.select(score, minus_infinity, mask, result);
  return result;
}

BackwardBytes bytes_between(const CudnnAttentionShape& shape) {
  return backward_bytes({.batch = shape.batch,
                         .head_count = shape.head_count,
                         .group_count = shape.group_count,
                         .head_size = shape.head_size},
                        {.query_count = shape.query_count, .key_count = shape.key_count});
}

}  // namespace

CudnnAttentionForward::CudnnAttentionForward(const CudnnAttentionShape& shape,
                                             const CudnnTarget& target)
    : scale_value_(scale_of(shape)),
      shift_value_(static_cast<std::int32_t>(shape.key_count - shape.query_count)) {
  const cudnnDataType_t bf16 = CUDNN_DATA_BFLOAT16;
  CudnnGraph& graph = graph_;
  q_ = graph.tensor(queries(shape), head_strides(shape, shape.q_stride), bf16, Kind::given);
  k_ = graph.tensor(swapped(keys(shape)), swapped(head_strides(shape, shape.k_stride)), bf16,
                    Kind::given);
  v_ = graph.tensor(keys(shape), head_strides(shape, shape.v_stride), bf16, Kind::given);
  o_ = graph.tensor(queries(shape), head_strides(shape, shape.o_stride), bf16, Kind::given);
  statistics_ = graph.tensor(rows(shape), CudnnGraph::packed_strides(rows(shape)), CUDNN_DATA_FLOAT,
                             Kind::given);
  scale_ = graph.scalar(CUDNN_DATA_FLOAT);
  minus_infinity_ = graph.scalar(CUDNN_DATA_FLOAT);
  shift_ = shift_value_ != 0 ? graph.scalar(CUDNN_DATA_INT32) : 0;

  const GraphTensor score = graph.inner(scores(shape));
  graph.matmul(q_, k_, score);
  const GraphTensor scaled = graph.inner(scores(shape));
  graph.pointwise(CUDNN_POINTWISE_MUL, score, scale_, scaled);
  const GraphTensor seen = masked(graph, scaled, shift_, minus_infinity_);
  const GraphTensor largest = graph.inner(rows(shape));
  graph.reduce(CUDNN_REDUCE_TENSOR_MAX, seen, largest);
  const GraphTensor below = graph.inner(scores(shape));
  graph.pointwise(CUDNN_POINTWISE_SUB, seen, largest, below);
  const GraphTensor exponential = graph.inner(scores(shape));
  graph.pointwise(CUDNN_POINTWISE_EXP, below, exponential);
  const GraphTensor sum = graph.inner(rows(shape));
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, exponential, sum);
  const GraphTensor logarithm = graph.inner(rows(shape));
  graph.pointwise(CUDNN_POINTWISE_LOG, sum, logarithm);
  graph.pointwise(CUDNN_POINTWISE_ADD, largest, logarithm, statistics_);
  const GraphTensor probability = graph.inner(scores(shape), bf16);
  graph.pointwise(CUDNN_POINTWISE_DIV, exponential, sum, probability);
  graph.matmul(probability, v_, o_);
  plan_ = std::make_unique<CudnnPlan>(graph, target);
}

void CudnnAttentionForward::run(cudnnHandle_t handle, const void* q, const void* k, const void* v,
                                void* o, float* statistics, void* workspace) const {
  std::vector<CudnnPlan::Value> values = {{q_, q},
                                          {k_, k},
                                          {v_, v},
                                          {o_, o},
                                          {statistics_, statistics},
                                          {scale_, &scale_value_},
                                          {minus_infinity_, &kMinusInfinity}};
  if (shift_ != 0) values.push_back({shift_, &shift_value_});
  plan_->run(handle, values, workspace);
}

// exp(scale q k^T - statistics), masked.
GraphTensor CudnnAttentionBackward::probabilities(const CudnnAttentionShape& shape, GraphTensor q,
                                                  GraphTensor k_transposed) {
  const GraphTensor score = graph_.inner(scores(shape));
  graph_.matmul(q, k_transposed, score);
  const GraphTensor scaled = graph_.inner(scores(shape));
  graph_.pointwise(CUDNN_POINTWISE_MUL, score, scale_, scaled);
  const GraphTensor below = graph_.inner(scores(shape));
  graph_.pointwise(CUDNN_POINTWISE_SUB, scaled, statistics_, below);
  const GraphTensor seen = masked(graph_, below, shift_, minus_infinity_);
  const GraphTensor probability = graph_.inner(scores(shape));
  graph_.pointwise(CUDNN_POINTWISE_EXP, seen, probability);
  return probability;
}

GraphTensor CudnnAttentionBackward::transposed(GraphTensor x) {
  const Extents extents = graph_.extents(x);
  const GraphTensor result =
      graph_.tensor(swapped(extents), swapped(CudnnGraph::packed_strides(extents)),
                    CUDNN_DATA_BFLOAT16, Kind::inner);
  graph_.reshape(x, result);
  return result;
}

// With grouped queries every head has its own, and the group's is their sum.
void CudnnAttentionBackward::product_of_heads(GraphTensor a, GraphTensor b, GraphTensor result,
                                              GraphTensor of_all_heads) {
  if (of_all_heads == 0) return graph_.matmul(a, b, result);
  graph_.matmul(a, b, of_all_heads);
  graph_.reduce(CUDNN_REDUCE_TENSOR_ADD, of_all_heads, result);
}

CudnnAttentionBackward::CudnnAttentionBackward(const CudnnAttentionShape& shape,
                                               const CudnnTarget& target)
    : shape_(shape),
      scale_value_(scale_of(shape)),
      shift_value_(static_cast<std::int32_t>(shape.key_count - shape.query_count)) {
  CudnnGraph& graph = graph_;
  const cudnnDataType_t bf16 = CUDNN_DATA_BFLOAT16;
  const auto given = [&](const Extents& extents, const Extents& strides,
                         cudnnDataType_t type = CUDNN_DATA_BFLOAT16) {
    return graph.tensor(extents, strides, type, Kind::given);
  };
  const auto packed = [&](const Extents& extents, cudnnDataType_t type) {
    return given(extents, CudnnGraph::packed_strides(extents), type);
  };
  q_ = given(queries(shape), head_strides(shape, shape.q_stride));
  const Extents k_strides = head_strides(shape, shape.k_stride);
  k_ = given(swapped(keys(shape)), swapped(k_strides));
  v_ = given(swapped(keys(shape)), swapped(head_strides(shape, shape.v_stride)));
  o_ = given(queries(shape), head_strides(shape, shape.o_stride));
  d_o_ = given(queries(shape), head_strides(shape, shape.d_o_stride));
  dq_ = given(queries(shape), head_strides(shape, shape.dq_stride));
  dk_ = given(keys(shape), head_strides(shape, shape.dk_stride));
  dv_ = given(keys(shape), head_strides(shape, shape.dv_stride));
  // Densely packed, all of them: other strides are taken, and give wrong gradients.
  statistics_ = packed(rows(shape), CUDNN_DATA_FLOAT);
  sums_ = packed(rows(shape), CUDNN_DATA_FLOAT);
  dq_sum_ = packed(queries(shape), CUDNN_DATA_FLOAT);
  if (shape.group_count != shape.head_count) {
    dk_heads_ = packed(all_heads(shape), bf16);
    dv_heads_ = packed(all_heads(shape), bf16);
  }
  scale_ = graph.scalar(CUDNN_DATA_FLOAT);
  one_ = graph.scalar(CUDNN_DATA_FLOAT);
  minus_infinity_ = graph.scalar(CUDNN_DATA_FLOAT);
  if (shift_value_ != 0) shift_ = graph.scalar(CUDNN_DATA_INT32);

  // sums = rows of d_o o, times one, where cuDNN's pattern has dropout's scale
  const GraphTensor products = graph.inner(queries(shape));
  graph.pointwise(CUDNN_POINTWISE_MUL, d_o_, o_, products);
  const GraphTensor row_sums = graph.inner(rows(shape));
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, products, row_sums);
  graph.pointwise(CUDNN_POINTWISE_MUL, row_sums, one_, sums_);

  const GraphTensor probability = probabilities(shape, q_, k_);
  product_of_heads(transposed(probability), d_o_, dv_, dv_heads_);

  // ds = scale p (d_o v^T - sums)
  const GraphTensor d_probability = graph.inner(scores(shape));
  graph.matmul(d_o_, v_, d_probability);
  const GraphTensor less = graph.inner(scores(shape));
  graph.pointwise(CUDNN_POINTWISE_SUB, d_probability, sums_, less);
  const GraphTensor weighted = graph.inner(scores(shape));
  graph.pointwise(CUDNN_POINTWISE_MUL, less, probability, weighted);
  const GraphTensor d_score = graph.inner(scores(shape));
  graph.pointwise(CUDNN_POINTWISE_MUL, weighted, scale_, d_score);
  product_of_heads(transposed(d_score), q_, dk_, dk_heads_);

  const GraphTensor k_as_it_lies = graph.tensor(keys(shape), k_strides, bf16, Kind::inner);
  graph.reshape(k_, k_as_it_lies);
  graph.matmul(d_score, k_as_it_lies, dq_sum_);
  graph.pointwise(CUDNN_POINTWISE_IDENTITY, dq_sum_, dq_);
  plan_ = std::make_unique<CudnnPlan>(graph, target);
}

std::int64_t CudnnAttentionBackward::workspace_bytes() const {
  return bytes_between(shape_).total() + plan_->workspace_bytes();
}

void CudnnAttentionBackward::run(cudnnHandle_t handle, const Operands& operands,
                                 std::byte* workspace, Stream stream) const {
  const BackwardBytes bytes = bytes_between(shape_);
  std::byte* next = workspace;
  const auto take = [&next](std::int64_t count) { return std::exchange(next, next + count); };
  std::byte* sums = take(bytes.sums);
  std::byte* dq_sum = take(bytes.dq_sum);
  fill_async(dq_sum, 0, static_cast<std::size_t>(bytes.dq_sum), stream);
  std::vector<CudnnPlan::Value> values = {{q_, operands.q},     {k_, operands.k},
                                          {v_, operands.v},     {o_, operands.o},
                                          {d_o_, operands.d_o}, {statistics_, operands.statistics},
                                          {dq_, operands.dq},   {dk_, operands.dk},
                                          {dv_, operands.dv},   {sums_, sums},
                                          {dq_sum_, dq_sum},    {scale_, &scale_value_},
                                          {one_, &kOne},        {minus_infinity_, &kMinusInfinity}};
  if (shift_ != 0) values.push_back({shift_, &shift_value_});
  if (dk_heads_ != 0) {
    values.push_back({dk_heads_, take(bytes.dk_heads)});
    values.push_back({dv_heads_, take(bytes.dk_heads)});
  }
  plan_->run(handle, values, next);
}

}  // namespace llmb::runner::cuda
