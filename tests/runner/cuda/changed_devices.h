// ChangedDevices: the double as a test wants it, until the test ends.
#pragma once

#include "runner/cuda/host_device.h"

namespace llmb::runner::testing {

class ChangedDevices {
 public:
  explicit ChangedDevices(const cuda::HostDeviceOptions& options) : before_(cuda::host_devices()) {
    cuda::set_host_devices(options);
  }
  ~ChangedDevices() { cuda::set_host_devices(before_); }
  ChangedDevices(const ChangedDevices&) = delete;
  ChangedDevices& operator=(const ChangedDevices&) = delete;

 private:
  cuda::HostDeviceOptions before_;
};

}  // namespace llmb::runner::testing
