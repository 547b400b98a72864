#include "runner/cuda/own_attention.h"

#include <vector>

#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {

OwnAttention::OwnAttention(const AttentionSizes& sizes) : sizes_(sizes) {
  const std::vector<std::int32_t> positions = query_positions(sizes);
  positions_ = DeviceMemory(positions.size() * sizeof(std::int32_t));
  const OwnedStream stream;
  copy_async(positions_.data(), positions.data(), positions_.bytes(), CopyDirection::to_device,
             stream);
  synchronize(stream);
}

kernels::AttentionShape OwnAttention::shape() const {
  kernels::AttentionShape shape;
  shape.batch = sizes_.batch;
  shape.head_count = sizes_.head_count;
  shape.group_count = sizes_.group_count;
  shape.head_size = sizes_.head_size;
  shape.chunk_size = sizes_.chunk_size;
  shape.query_positions = reinterpret_cast<const std::int32_t*>(positions_.data());
  shape.query_count = sizes_.query_count();
  return shape;
}

void OwnAttention::forward(const AttentionForwardCall& call, Stream stream) const {
  kernels::attention_forward<kernels::Bf16>(
      {shape(), call.q, call.k, call.v, call.o, call.statistics}, stream);
}

void OwnAttention::backward(const AttentionBackwardCall& call, std::byte* workspace,
                            Stream stream) const {
  kernels::attention_backward<kernels::Bf16>(
      {shape(), call.q, call.k, call.v, call.o, call.statistics, call.d_o, call.dq, call.dk,
       call.dv, reinterpret_cast<float*>(workspace)},
      stream);
}

std::int64_t OwnAttention::workspace_bytes() const {
  return own_attention_workspace_bytes(sizes_.shape(), sizes_.query_count());
}

}  // namespace llmb::runner::cuda
