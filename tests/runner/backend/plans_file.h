// Runs over the double that keep the choice of algorithms in a file, on a device whose products
// take what they are told to.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runner/cuda/host_device.h"
#include "tests/runner/backend/cuda_run.h"
#include "tests/runner/cuda/changed_devices.h"
#include "tests/temporary_folder.h"

namespace llmb::runner::testing {

inline cuda::HostDeviceOptions told(std::vector<double> product_times_s) {
  cuda::HostDeviceOptions options;
  options.product_times_s = std::move(product_times_s);
  return options;
}

class PlansFile : public ::testing::Test {
 protected:
  std::string run(const cuda::HostDeviceOptions& devices, const Arguments& more = {}) const {
    const ChangedDevices changed(devices);
    return log_of(shorter(joined({"--steps", "2", "--global-batch-size", "2", "--dp", "2",
                                  "--product-plans", path.string()},
                                 more)),
                  true);
  }
  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) const { std::ofstream(path) << content; }

  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "plans.json";
  std::filesystem::path old = folder.path() / "plans.json.old";
};

}  // namespace llmb::runner::testing
