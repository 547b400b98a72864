// Watchdog: a thread of this process that looks at all of its NCCL communicators every tenth of a
// second, and ends them all when one has an error or a call that does not end: NCCL itself waits
// for ever where a member has died. An abort waits for the communicator's streams, whose turn may
// be a call of another one: so all are aborted at once. Real sources only.
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
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runner/cuda/launch_watch.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

// One communicator as the watchdog sees it. Thread-safe. Its owner has it closed, on the thread of
// its rank, whoever else still holds it.
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
  std::string group() const;
  // What it is called from here on.
  void set_group(const std::string& group);
  std::chrono::milliseconds patience() const { return patience_; }

  // Around a call that was just put on the stream: noted for the watchdog. Of a call that is
  // captured into a graph, each launch is.
  void begin_call(Stream stream, const std::string& what);
  void end_call(Stream stream);
  void begin_launch(Stream stream) override;
  void end_launch(Stream stream) override { end_call(stream); }

  // Where NCCL puts the communicator of a split: in this one's keeping, for NCCL may write there
  // until it has ended what it was asked for. end_split() takes it out, once state() is a success;
  // what is left there is aborted after this one. One split at a time.
  ncclComm_t* begin_split();
  ncclComm_t end_split();

  // How far NCCL is with what it was last asked for. Throws CommunicatorFailed where the
  // communicator was ended.
  ncclResult_t state() const;

  // Empty while all is well. Called by the watchdog.
  std::string look();
  // From here on nobody begins to use it. True for whoever is the first to say so, and has to
  // abort() it.
  bool mark_ended(const std::string& reason);
  // Waits for its streams, and for the graphs that have calls of it.
  void abort();
  // Whether NCCL may still write what a split was to make.
  bool has_open_split() const;
  // Waits for the other members. Nothing where it was ended before.
  void destroy();

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
  std::string group_;  // under mutex_
  const int device_;
  const std::chrono::milliseconds patience_;
  const std::function<std::string()> who_is_gone_;

  std::recursive_timed_mutex using_;  // taken before mutex_, where both are
  mutable std::mutex mutex_;
  std::deque<Call> calls_;
  std::map<Stream, Call> open_;
  std::vector<cudaEvent_t> spare_events_;
  std::optional<ncclComm_t> split_;
  std::string failure_;
  bool is_ended_ = false;
  bool has_seen_error_ = false;
};

class Watchdog {
 public:
  // How a process ends whose NCCL does not (kExitCommunication of plan/options.h).
  static constexpr int kExitStuck = 4;
  // What is done where communicators have not ended after so long, as with a device that has left
  // the bus: nothing else would end the process, and by some launchers none of the others.
  struct LastResort {
    std::chrono::milliseconds after{std::chrono::seconds(60)};
    // Says `what` on the error output and ends the process with kExitStuck, at once.
    std::function<void(const std::string& what)> act = end_process;
  };

  static Watchdog& of_this_process();
  // For aborts that begin from now on.
  void set_last_resort(LastResort last_resort);
  // Until close(). The first one after none begins a new run: what was posted before is no
  // failure of it.
  void watch(const std::shared_ptr<WatchedCommunicator>& communicator);
  // By its owner, of one that is watched. Where its rank has failed, for the reason that `failure`
  // says, nobody is waited for, and all others end with it: an abort of one alone may wait for what
  // those have on its stream.
  void close(const std::shared_ptr<WatchedCommunicator>& communicator, const std::string& failure);
  // All of this process, for what happened in `group`: the others would wait for a member that is
  // on its way out. Comes back when NCCL has freed them; at once where another thread has begun to
  // end them.
  void end_all(const std::string& group, const std::string& reason);
  ~Watchdog();

 private:
  using Communicators = std::vector<std::shared_ptr<WatchedCommunicator>>;

  Watchdog();
  static void end_process(const std::string& what);
  void run();
  LastResort last_resort();

  std::mutex mutex_;
  std::condition_variable changed_;
  Communicators communicators_;
  LastResort last_resort_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace llmb::runner::cuda
