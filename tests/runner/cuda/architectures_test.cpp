// What the program says that its kernels were compiled for is what they were compiled for.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runner/cuda/device.h"

namespace llmb::runner::cuda {
namespace {

// By ptxas' own words: "Compiling entry function '_Z1aif' for 'sm_90'".
std::set<int> compiled_architectures() {
  constexpr std::string_view kBefore = "' for 'sm_";
  std::set<int> found;
  for (const auto& file : std::filesystem::directory_iterator(LLMB_KERNEL_REPORTS)) {
    if (file.path().extension() != ".ptxas") continue;
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);) {
      const std::size_t at = line.find(kBefore);
      if (at != std::string::npos) found.insert(std::stoi(line.substr(at + kBefore.size())));
    }
  }
  return found;
}

TEST(KernelArchitectures, AreThoseThatTheKernelsWereCompiledFor) {
  const std::vector<int> told = kernel_architectures();
  EXPECT_EQ(std::set<int>(told.begin(), told.end()), compiled_architectures());
}

TEST(KernelArchitectures, ServeAnH200AndRefuseWhatIsOlder) {
  DeviceInfo device;
  device.compute_capability = 90;
  EXPECT_NO_THROW(require_kernels_for(device));
  device.compute_capability = 80;
  EXPECT_ANY_THROW(require_kernels_for(device));
}

}  // namespace
}  // namespace llmb::runner::cuda
