#include "tests/runner/cuda/stand_in_nccl.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/patience.h"

namespace {

std::mutex mutex;
std::condition_variable changed;
int stuck_count = 0;
int aborting_count = 0;
int in_vain = 0;
const char* last_error = "";
ncclComm_t joined = nullptr;

}  // namespace

namespace llmb::runner::testing {

void set_stuck_communicators(int count) {
  const std::lock_guard lock(mutex);
  stuck_count = count;
  aborting_count = 0;
  in_vain = 0;
}

int aborts_in_vain() {
  const std::lock_guard lock(mutex);
  return in_vain;
}

void set_joined(ncclComm_t comm) {
  joined = comm;
}

void set_last_nccl_error(const char* words) {
  last_error = words;
}

}  // namespace llmb::runner::testing

// NOLINTBEGIN(readability-identifier-naming): NCCL's names
extern "C" {
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  std::unique_lock lock(mutex);
  if (comm->is_stuck) {
    ++aborting_count;
    changed.notify_all();
    const bool all_came =
        changed.wait_for(lock, llmb::kTestPatience, [] { return aborting_count >= stuck_count; });
    if (!all_came) ++in_vain;
  }
  const auto end = std::chrono::steady_clock::now() + llmb::kTestPatience;
  lock.unlock();
  while (comm->is_hung && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  if (comm->split_place) *comm->split_place = comm->split;
  ++comm->aborts;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ++comm->destructions;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  *state = comm->state;
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int, ncclUniqueId, int, ncclConfig_t*) {
  *comm = joined;
  return ncclInProgress;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclUnhandledCudaError ? "unhandled cuda error" : "some error";
}
const char* ncclGetLastError(ncclComm_t) {
  return last_error;
}

// What no test calls.
ncclResult_t ncclAllGather(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclAllReduce(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                           cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclBroadcast(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t,
                           cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclReduceScatter(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                               cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclSend(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclCommSplit(ncclComm_t, int, int, ncclComm_t*, ncclConfig_t*) {
  return ncclInvalidUsage;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId*) {
  return ncclInvalidUsage;
}
ncclResult_t ncclGetVersion(int*) {
  return ncclInvalidUsage;
}
ncclResult_t ncclGroupStart() {
  return ncclInvalidUsage;
}
ncclResult_t ncclGroupEnd() {
  return ncclInvalidUsage;
}
}
// NOLINTEND(readability-identifier-naming)
