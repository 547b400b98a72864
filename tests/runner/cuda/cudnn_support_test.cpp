// Whether cuDNN serves the attention of the recipes' models, asked for devices that are not here:
// it finds engines and makes their kernels from a device's description; only to load them it needs
// a driver, of which the toolkit's stub is enough to be refused by.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runner/cuda/cudnn_attention.h"
#include "runner/cuda/device_error.h"
#include "runner/cuda/vendor_functions.h"

namespace llmb::runner::cuda {
namespace {

// As cudaGetDeviceProperties tells them of an H100 (90) and a B200 (100).
std::string device(int compute_capability) {
  const bool is_hopper = compute_capability == 90;
  return fmt::format(
      R"({{"deviceVer": {}, "deviceName": "not here", "multiProcessorCount": {}, )"
      R"("maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], )"
      R"("maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, )"
      R"("regsPerBlock": 65536, "maxRegistersPerSM": 65536, "warpSize": 32, )"
      R"("maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448, )"
      R"("reservedSharedMemoryPerBlock": 1024, "l2CacheSize": {}, "totalGlobalMem": {}, )"
      R"("smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "supportCoopLaunch": 1, )"
      R"("isTccDriver": 0, "pciDeviceId": 0, "cudaDeviceId": 0, "driverVer": 13000}})",
      compute_capability * 10, is_hopper ? 132 : 148, is_hopper ? 52428800 : 132644864,
      is_hopper ? 85899345920 : 193273528320);
}

struct Case {
  const char* name;
  std::int64_t head_count, group_count, head_size;
  std::int64_t query_count, key_count;
};

// A rank's heads at the recipes' tensor parallelism.
constexpr Case kCases[] = {
    {"Grok1", 12, 2, 128, 8192, 8192},       {"Llama8B", 32, 8, 128, 8192, 8192},
    {"Llama405B", 16, 1, 128, 8192, 8192},   {"Maverick", 10, 2, 128, 8192, 8192},
    {"Nemotron15B", 24, 4, 128, 4096, 4096}, {"LatePieceOfTwo", 32, 8, 128, 2048, 8192},
};

CudnnAttentionShape shape_of(const Case& test) {
  CudnnAttentionShape shape;
  shape.batch = 1;
  shape.head_count = test.head_count;
  shape.group_count = test.group_count;
  shape.head_size = test.head_size;
  shape.query_count = test.query_count;
  shape.key_count = test.key_count;
  // Slices of one matrix, and results on their own.
  const std::int64_t qkv = (test.head_count + 2 * test.group_count) * test.head_size;
  shape.q_stride = shape.k_stride = shape.v_stride = qkv;
  shape.dq_stride = shape.dk_stride = shape.dv_stride = qkv;
  shape.o_stride = shape.d_o_stride = test.head_count * test.head_size;
  return shape;
}

// As a plan counts them before cuDNN is asked.
std::int64_t planned_bytes(const Case& test) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(test.query_count));
  std::iota(positions.begin(), positions.end(), test.key_count - test.query_count);
  return attention_workspace_bytes({.batch = 1,
                                    .head_count = test.head_count,
                                    .group_count = test.group_count,
                                    .head_size = test.head_size},
                                   positions, test.key_count);
}

class CudnnSupport : public ::testing::TestWithParam<std::tuple<int, Case>> {
 protected:
  void SetUp() override {
    if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) &&
        !dlopen(LLMB_STUB_LIBCUDA, RTLD_NOW | RTLD_GLOBAL)) {
      GTEST_SKIP() << "Neither a driver nor the toolkit's stub of it (" LLMB_STUB_LIBCUDA ")";
    }
    if (cudnn().cudnnGetVersion() < 90800) GTEST_SKIP() << "This cuDNN describes no devices.";
  }
};

TEST_P(CudnnSupport, ServesForwardAndBackward) {
  const auto& [compute_capability, test] = GetParam();
  const CudnnTarget target{nullptr, device(compute_capability)};
  try {
    const CudnnAttentionForward forward(shape_of(test), target);
    const CudnnAttentionBackward backward(shape_of(test), target);
    EXPECT_EQ(forward.engine().find("engine "), 0U);
    EXPECT_EQ(forward.workspace_bytes(), 0);
    EXPECT_EQ(backward.workspace_bytes(), planned_bytes(test)) << "the plan counts so many";
    RecordProperty("forward", forward.engine());
    RecordProperty("backward", backward.engine());
  } catch (const DeviceError& error) {
    FAIL() << error.what();
  }
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<int, Case>>& tested) {
  return fmt::format("{}OnSm{}", std::get<1>(tested.param).name, std::get<0>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(Of, CudnnSupport,
                         ::testing::Combine(::testing::Values(90, 100),
                                            ::testing::ValuesIn(kCases)),
                         name_of_case);

class CudnnLimits : public CudnnSupport {};

// So that the proof above can fail. On sm_100 backward stops at 128 features a head already, in
// cuDNN 9.19: Nemotron-4 340B's 192 are the own kernels' there.
TEST_P(CudnnLimits, AreTold) {
  const auto& [compute_capability, test] = GetParam();
  const CudnnTarget target{nullptr, device(compute_capability)};
  EXPECT_THROW(CudnnAttentionBackward(shape_of(test), target), DeviceError);
}

INSTANTIATE_TEST_SUITE_P(Of, CudnnLimits,
                         ::testing::Values(std::tuple(90, Case{"", 16, 2, 264, 4096, 4096}),
                                           std::tuple(100, Case{"", 16, 2, 264, 4096, 4096})));

}  // namespace
}  // namespace llmb::runner::cuda
