// HostStaging: copies from the host to the device by pinned memory of its own, so that callers may
// forget theirs at once. It is a ring: what was copied makes room for what comes, and nothing is
// pinned anew but for something larger than all that came before.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "runner/cuda/memory.h"
#include "runner/cuda/stream.h"

namespace llmb::runner::cuda {

// One stream at a time.
class HostStaging {
 public:
  // 4 MiB: the tokens of 64 micro-batches of 8192, which the host may be ahead of the device.
  explicit HostStaging(std::size_t bytes = std::size_t{4} << 20) : ring_(bytes) {}

  // Waits where the ring is full of what the stream has not copied yet.
  void write(const void* host, void* to, std::size_t bytes, Stream stream);

 private:
  struct Copy {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::unique_ptr<Event> copied;
  };
  // Where `bytes` are free.
  std::size_t make_room(std::size_t bytes);
  void forget_oldest();

  PinnedMemory ring_;
  std::size_t next_ = 0;
  std::deque<Copy> copies_;                     // the oldest first
  std::vector<std::unique_ptr<Event>> events_;  // to be used again
};

}  // namespace llmb::runner::cuda
