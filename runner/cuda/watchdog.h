// Watchdog: a thread of this process that looks at all of its NCCL communicators every tenth of a
// second, and ends them all when one has an error or a call that does not end: NCCL itself waits
// for ever where a member has died. Real sources only.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runner/cuda/launch_watch.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// One communicator as the watchdog sees it. Thread-safe.
class WatchedCommunicator : public LaunchWatch,
                            public std::enable_shared_from_this<WatchedCommunicator> {
 public:
  WatchedCommunicator(ncclComm_t comm, std::string group, int device,
                      std::chrono::milliseconds patience, std::function<std::string()> who_is_gone);
  ~WatchedCommunicator() override;
  WatchedCommunicator(const WatchedCommunicator&) = delete;
  WatchedCommunicator& operator=(const WatchedCommunicator&) = delete;

  ncclComm_t get() const { return comm_; }
  // For NCCL's calls that take get(): as long as it is held the communicator is not freed, unless
  // it is held for longer than any such call takes. Throws CommunicatorFailed where it was ended.
  // The same thread may hold several.
  using Use = std::unique_lock<std::recursive_timed_mutex>;
  Use use();
  const std::string& group() const { return group_; }
  std::chrono::milliseconds patience() const { return patience_; }

  // Around a call that was just put on the stream: noted for the watchdog. Of a call that is
  // captured into a graph, each launch is.
  void begin_call(Stream stream, const std::string& what);
  void end_call(Stream stream);
  void begin_launch(Stream stream) override;
  void end_launch(Stream stream) override { end_call(stream); }

  // How far NCCL is with what it was last asked for. Throws CommunicatorFailed where the
  // communicator was ended.
  ncclResult_t state() const;

  // Empty while all is well. Called by the watchdog.
  std::string look();
  // Once; later calls do nothing.
  void end(const std::string& reason);

 private:
  struct Call {
    std::string what;
    cudaEvent_t begun = nullptr;
    cudaEvent_t ended = nullptr;
    std::chrono::steady_clock::time_point running_since{};
  };
  cudaEvent_t take_event();
  void throw_if_ended() const;  // under the lock

  const ncclComm_t comm_;
  const std::string group_;
  const int device_;
  const std::chrono::milliseconds patience_;
  const std::function<std::string()> who_is_gone_;

  std::recursive_timed_mutex using_;  // taken before mutex_, where both are
  mutable std::mutex mutex_;
  std::deque<Call> calls_;
  std::map<Stream, Call> open_;
  std::vector<cudaEvent_t> spare_events_;
  std::string failure_;
  bool is_ended_ = false;
};

class Watchdog {
 public:
  static Watchdog& of_this_process();
  void watch(const std::shared_ptr<WatchedCommunicator>& communicator);
  ~Watchdog();

 private:
  Watchdog();
  void run();
  std::vector<std::shared_ptr<WatchedCommunicator>> watched();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<WatchedCommunicator>> communicators_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace llmb::runner::cuda
