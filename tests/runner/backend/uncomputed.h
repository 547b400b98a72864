// Uncomputed: while one stands, the double computes nothing, for tests that count what a step
// takes, launches or waits for, which depends on no number. Not for those in which the host asks
// how many rows experts have. A device computes all the same.
#pragma once

#if defined(LLMB_OVER_DOUBLE)
#include "runner/cuda/host_device.h"
#endif

namespace llmb::runner::testing {

class [[maybe_unused]] Uncomputed {
 public:
  Uncomputed(const Uncomputed&) = delete;
  Uncomputed& operator=(const Uncomputed&) = delete;
#if defined(LLMB_OVER_DOUBLE)
  Uncomputed() {
    cuda::set_host_devices({.timing = cuda::HostTiming::never});
  }
  ~Uncomputed() {
    cuda::set_host_devices({});
  }
#else
  Uncomputed() = default;
#endif
};

}  // namespace llmb::runner::testing
