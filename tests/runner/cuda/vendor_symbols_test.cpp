// The vendors' functions, held against the libraries themselves: this program is linked with them,
// so that a name that a library lacks fails its build, and what is found when a program runs is the
// same functions. Needs no device.
#include <gtest/gtest.h>

#include "runner/cuda/collectives.h"
#include "runner/cuda/device.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/vendor_functions.h"

namespace llmb::runner::cuda {
namespace {

#define LLMB_EXPECT_SAME(name) EXPECT_EQ(loaded.name, &::name) << #name;

TEST(VendorSymbols, OfCublasLtAreFound) {
  const CublasLtFunctions& loaded = cublaslt();
  LLMB_CUBLASLT_FUNCTIONS(LLMB_EXPECT_SAME)
  EXPECT_EQ(gemm_library().find("cuBLASLt "), 0U) << gemm_library();
}

TEST(VendorSymbols, OfCudnnAreFound) {
  const CudnnFunctions& loaded = cudnn();
  LLMB_CUDNN_FUNCTIONS(LLMB_EXPECT_SAME)
  EXPECT_GE(loaded.cudnnGetVersion(), 90000U);
}

TEST(VendorSymbols, OfNcclAreFound) {
  const NcclFunctions& loaded = nccl();
  LLMB_NCCL_FUNCTIONS(LLMB_EXPECT_SAME)
  EXPECT_EQ(collectives_library().find("NCCL 2."), 0U) << collectives_library();
}

TEST(Runtime, SaysWhyThereIsNoDevice) {
  const DeviceCount devices = count_devices();
  if (devices.count > 0) GTEST_SKIP() << "There is a device here.";
  EXPECT_FALSE(devices.why_none.empty());
  try {
    choose_device(0);
    FAIL() << "was chosen";
  } catch (const NoDevice& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("local number 0: no device, " + devices.why_none), std::string::npos);
    EXPECT_NE(said.find("--backend cpu"), std::string::npos) << said;
  }
  EXPECT_EQ(runtime_name().find("CUDA "), 0U);
}

}  // namespace
}  // namespace llmb::runner::cuda
