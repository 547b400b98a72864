// How NCCL is to make a communicator, by what it is for. Real sources only.
#pragma once

#include <nccl.h>

#include "runner/cuda/collectives.h"

namespace llmb::runner::cuda {

// ncclCommSplit() came with 2.18.1, and how many blocks a communicator's kernels have before.
static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 1), "a newer NCCL's header is needed");

// A message waits on the device for its other end while the rank computes, and each of its blocks
// keeps a multiprocessor from that: NCCL takes up to 32. Four are not measured; they carry what a
// network's link does.
constexpr int kBlocksOfMessagesMax = 4;

inline ncclConfig_t communicator_config(CommunicatorUse use) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (use == CommunicatorUse::messages) config.maxCTAs = kBlocksOfMessagesMax;
  return config;
}

}  // namespace llmb::runner::cuda
