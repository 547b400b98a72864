// HostStream: a stream of the double. A thread of its own runs what was put on it, in order; how
// soon is HostTiming's business. An error stays with the stream: whatever follows is not run, and
// every wait throws it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "runner/cuda/host_device.h"
#include "runner/kernels/stream.h"

namespace llmb::runner::cuda {

using kernels::Stream;

class HostStream {
 public:
  HostStream(int device, HostTiming timing);
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  static HostStream& of(Stream stream);
  Stream handle();

  // Returns the work's ticket, in the stream's order.
  std::uint64_t put(std::function<void()> work);
  std::uint64_t last_ticket() const;
  // Lets the work run, up to that of `ticket`, and comes back at once.
  void let_run(std::uint64_t ticket);
  // Waits until it has run. Throws the stream's error.
  void finish(std::uint64_t ticket);
  bool has_run(std::uint64_t ticket) const;
  int device() const { return device_; }
  bool drops_work() const { return drops_work_; }

 private:
  void run();

  const int device_;
  const bool drops_work_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t put_ = 0;      // tickets given
  std::uint64_t ended_ = 0;    // of work that has run, or was passed over after an error
  std::uint64_t allowed_ = 0;  // how far work may run
  std::exception_ptr error_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace llmb::runner::cuda
