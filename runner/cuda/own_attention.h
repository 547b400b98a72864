// OwnAttention: attention of one set of sizes by the kernels of runner/kernels/attention.h, with
// the device memory that they need beside their operands.
#pragma once

#include "runner/cuda/attention.h"
#include "runner/cuda/memory.h"
#include "runner/kernels/attention.h"

namespace llmb::runner::cuda {

class OwnAttention {
 public:
  explicit OwnAttention(const AttentionSizes& sizes);
  void forward(const AttentionForwardCall& call, Stream stream) const;
  void backward(const AttentionBackwardCall& call, Stream stream) const;
  std::int64_t workspace_bytes() const;

 private:
  kernels::AttentionShape shape() const;

  AttentionSizes sizes_;
  DeviceMemory positions_;
  DeviceMemory dots_;
};

}  // namespace llmb::runner::cuda
