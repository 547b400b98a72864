// What tests tell the stand-in for NCCL, a library with its binary interface and no devices: its
// communicators are all on one stream, where each has a call that another rank's death left stuck.
// So an abort comes back once all of those that are `stuck` are being aborted, as NCCL's does.
#pragma once

#include <nccl.h>

#include <atomic>

// NCCL's name for what it keeps to itself.
struct ncclComm {
  std::atomic<ncclResult_t> state = ncclSuccess;
  bool is_stuck = false;
  // An abort of it does not come back until it is false.
  std::atomic<bool> is_hung = false;
  // Where its job of a split writes at its end, and what: before an abort of this one comes back.
  ncclComm_t* split_place = nullptr;
  ncclComm_t split = nullptr;
  std::atomic<int> aborts = 0;
  std::atomic<int> destructions = 0;
};

namespace llmb::runner::testing {

// What a group's members are given that join from now on: it says by its state how far that is.
void set_joined(ncclComm_t comm);
// Communicators that count as stuck from now on.
void set_stuck_communicators(int count);
// Aborts that waited in vain for those of other communicators.
int aborts_in_vain();
// What ncclGetLastError() says.
void set_last_nccl_error(const char* words);

}  // namespace llmb::runner::testing
