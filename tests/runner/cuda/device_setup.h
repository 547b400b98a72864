// OnDevice: the fixture of tests that run on a device, and as well on the double. With a GPU's
// library linked and no GPU there, they are skipped with the reason.
#pragma once

#include <gtest/gtest.h>

#include "runner/cuda/device.h"

namespace llmb::runner::testing {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const cuda::DeviceCount devices = cuda::count_devices();
    if (devices.count == 0) GTEST_SKIP() << "No device: " << devices.why_none;
    cuda::choose_device(0);
  }
};

}  // namespace llmb::runner::testing
