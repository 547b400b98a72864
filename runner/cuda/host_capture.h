// HostCapture: what one thread of the double puts on its streams while it captures a graph, in that
// order, which replays it; and what CUDA refuses meanwhile, so that it is found without a device.
// Stricter than CUDA in one thing: the thread waits for no stream at all. Used by that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runner/cuda/host_stream.h"

namespace llmb::runner::cuda {

class HostCapture {
 public:
  struct Node {
    std::function<void()> work;
    // Called at each launch with the stream and the launch's ticket; may be empty.
    std::function<void(const std::shared_ptr<HostStream>&, std::uint64_t)> announce;
  };
  // Of each stream, how many of its nodes come before something.
  using Before = std::map<Stream, std::size_t>;

  // Throws DeviceError where the thread captures something already.
  static void begin(Stream origin);
  // The calling thread's; null where it captures nothing.
  static std::shared_ptr<HostCapture> of_thread();
  // The same if the stream is in it, else null.
  static std::shared_ptr<HostCapture> of(Stream stream);
  // Ends the calling thread's. Throws as GraphCapture::end() does.
  static std::vector<Node> end();
  static void drop();

  void put(Stream stream, Node node);
  const Before& before_next(Stream stream) { return before_[stream]; }
  // `stream` is in it from now on, and what it is given comes after `before`.
  void join(const Before& before, Stream stream);
  void invalidate() { is_valid_ = false; }
  // Takes memory all the same.
  bool takes_memory = false;

 private:
  explicit HostCapture(Stream origin) : origin_(origin) { before_[origin] = {}; }

  Stream origin_;
  std::vector<Node> nodes_;
  std::map<Stream, Before> before_;  // what comes before a stream's next node, its own among it
  bool is_valid_ = true;
};

// Where the calling thread captures: throws DeviceError with CUDA's code, and the capture is of no
// use any more. `tried` is for the message: "wait for a stream".
void refuse_in_capture(const std::string& tried);
// The same for memory that is taken or given back: CUDA's call fails.
void refuse_memory_in_capture(const std::string& tried);
// Whatever the thread does.
[[noreturn]] void refuse_as_cuda(const std::string& tried, const std::string& code,
                                 const std::string& words);

}  // namespace llmb::runner::cuda
