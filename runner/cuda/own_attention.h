// OwnAttention: attention of one set of sizes by the kernels of runner/kernels/attention.h, with
// the queries' positions where they read them.
#pragma once

#include "runner/cuda/attention.h"
#include "runner/cuda/memory.h"
#include "runner/kernels/attention.h"

namespace llmb::runner::cuda {

class OwnAttention {
 public:
  explicit OwnAttention(const AttentionSizes& sizes);
  void forward(const AttentionForwardCall& call, Stream stream) const;
  void backward(const AttentionBackwardCall& call, std::byte* workspace, Stream stream) const;
  // Of the way back; forward needs none.
  std::int64_t workspace_bytes() const;

 private:
  kernels::AttentionShape shape() const;

  AttentionSizes sizes_;
  DeviceMemory positions_;
};

}  // namespace llmb::runner::cuda
