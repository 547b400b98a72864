// Whole runs on the CUDA backend over the double: options to log lines, as train_loop_test has them
// for the CPU; the same losses, checkpoints between the two backends, and a rank slice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string_view>

#include "runner/cuda/gemm.h"
#include "tests/runner/backend/cuda_run.h"
#include "tests/runner/cuda/device_setup.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void expect_same_losses(const std::string& cuda, const std::string& cpu, std::size_t steps) {
  const std::vector<double> on_cuda = losses_of(cuda);
  const std::vector<double> on_cpu = losses_of(cpu);
  ASSERT_EQ(on_cuda.size(), steps) << cuda;
  ASSERT_EQ(on_cpu.size(), steps) << cpu;
  for (std::size_t step = 0; step < steps; ++step) {
    EXPECT_NEAR(on_cuda[step] / on_cpu[step], 1, 1e-3) << "step " << step;
  }
}

using CudaRun = testing::OnDevice;

TEST_F(CudaRun, LogsTheLossesOfTheCpu) {
  if (cuda::count_devices().count < 2) GTEST_SKIP() << "two devices are needed";
  const Arguments arguments = shorter({"--steps", "3", "--global-batch-size", "2", "--dp", "2"});
  const std::string cuda = log_of(arguments, true);
  expect_same_losses(cuda, log_of(arguments, false), 3);
  EXPECT_THAT(cuda, HasSubstr("2 ranks, each on a CUDA device"));
  EXPECT_THAT(cuda, HasSubstr("llmb-step-runner: attention by "));
  EXPECT_THAT(cuda, HasSubstr("memory of this rank (stage 0) in MiB, counted and planned"));
  EXPECT_THAT(cuda, Not(HasSubstr("CPUs")));
}

// Calls, seconds, microseconds, share of the time; speed; share of what was measured of the same.
void expect_share_of_ceiling(const std::string& log, const char* product) {
  EXPECT_TRUE(std::regex_search(
      log, std::regex(std::string(product) +
                      " +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+% +[0-9.]+ +- +[0-9.]+%\n")))
      << product << "\n"
      << log;
}

TEST_F(CudaRun, HoldsExpertsRouterAndFp8AgainstTheirCeilings) {
  const Arguments profile = {"--steps", "1", "--global-batch-size", "1", "--profile"};
  const std::string bf16 = log_of(tiny_grok(joined(profile, {"--dtype", "bf16"})), true);
  for (const char* product : {"grouped_linear.forward", "grouped_linear.backward_weight",
                              "router.logits", "router.logits_backward"}) {
    expect_share_of_ceiling(bf16, product);
  }
  for (const char* dtype : {"fp8_cs", "fp8_mx"}) {
    if (std::string_view(dtype) == "fp8_mx" && !cuda::why_no_mxfp8().empty()) continue;
    const std::string fp8 = log_of(shorter(joined(profile, {"--dtype", dtype})), true);
    for (const char* product : {"fp8_linear.forward", "fp8_linear.backward_input",
                                "fp8_linear.backward_weight", "linear.forward"}) {
      expect_share_of_ceiling(fp8, product);
    }
  }
}

TEST_F(CudaRun, TrainsInBlocksAsTheCpuEmulatesThem) {
  if (const std::string why_not = cuda::why_no_mxfp8(); !why_not.empty()) GTEST_SKIP() << why_not;
  const Arguments arguments =
      shorter({"--steps", "3", "--global-batch-size", "2", "--dtype", "fp8_mx"});
  const std::string cuda = log_of(arguments, true);
  expect_same_losses(cuda, log_of(arguments, false), 3);
  EXPECT_THAT(cuda, HasSubstr("FP8 weights are cast once a step and kept"));
}

TEST_F(CudaRun, PrintsTheProfilesOperations) {
  const std::string cuda =
      log_of(shorter({"--steps", "3", "--global-batch-size", "1", "--profile",
                      "--profile-start-step", "1", "--profile-stop-step", "3"}),
             true);
  EXPECT_THAT(cuda, HasSubstr("profile: steps 1 to 3 (before 3), rank 0"));
  // Calls, seconds, microseconds, share of the time; then speed and share of what was measured.
  const std::string times = " +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+%";
  for (const char* product : {"linear.forward", "linear.backward_weight", "attention.backward"}) {
    EXPECT_TRUE(std::regex_search(cuda, std::regex(product + times + " +[0-9.]+ +- +[0-9.]+%\n")))
        << product << "\n"
        << cuda;
  }
  for (const char* mover : {"activation.forward", "rms_norm.backward", "adamw.update"}) {
    EXPECT_TRUE(std::regex_search(cuda, std::regex(mover + times + " +- +[0-9.]+ +[0-9.]+%\n")))
        << mover << "\n"
        << cuda;
  }
}

// Four weights in each of two layers, and two micro-batches.
TEST_F(CudaRun, CastsFp8WeightsOnceAStepWhereTheCopiesFit) {
  const auto profile_of = [](const char* micro_batch_size, std::int64_t gpu_bytes) {
    return log_of(shorter({"--dtype", "fp8_cs", "--seq-length", "16", "--steps", "1",
                           "--global-batch-size", "2", "--micro-batch-size", micro_batch_size,
                           "--profile", "--profile-start-step", "0", "--profile-stop-step", "1"}),
                  true, gpu_bytes);
  };
  constexpr std::int64_t kEnough = std::int64_t{80} << 30;
  const std::string kept = profile_of("1", kEnough);
  EXPECT_TRUE(std::regex_search(kept, std::regex("fp8_linear.forward +16 "))) << kept;
  EXPECT_TRUE(std::regex_search(kept, std::regex("fp8_linear.cast_weight +8 "))) << kept;
  EXPECT_THAT(kept, HasSubstr("llmb-step-runner: FP8 weights are cast once a step and kept"));
  const std::string cast = profile_of("1", 0);
  EXPECT_TRUE(std::regex_search(cast, std::regex("fp8_linear.cast_weight +32 "))) << cast;
  EXPECT_THAT(cast, HasSubstr("llmb-step-runner: FP8 weights are cast in every pass: copies"));
  ASSERT_EQ(losses_of(kept).size(), 1U);
  EXPECT_EQ(losses_of(kept), losses_of(cast));
  // A single micro-batch casts for either pass, and keeps nothing.
  const std::string one = profile_of("2", kEnough);
  EXPECT_TRUE(std::regex_search(one, std::regex("fp8_linear.forward +8 "))) << one;
  EXPECT_TRUE(std::regex_search(one, std::regex("fp8_linear.cast_weight +16 "))) << one;
  EXPECT_THAT(one, HasSubstr("FP8 weights are cast in every pass: a step has one micro-batch"));
}

TEST_F(CudaRun, GoesOnFromACheckpointOfTheCpu) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "saved";
  const Arguments save = shorter({"--steps", "2", "--global-batch-size", "1", "--checkpoint-path",
                                  path.string(), "--checkpoint"});
  log_of(save, false);
  const Arguments load =
      shorter({"--steps", "4", "--global-batch-size", "1", "--load-checkpoint", path.string()});
  const std::string cuda = log_of(load, true);
  const std::string cpu = log_of(load, false);
  const std::vector<double> losses = losses_of(cpu);
  expect_same_losses(cuda, cpu, losses.size());
  EXPECT_FALSE(losses.empty());
}

TEST_F(CudaRun, RunsOneRankOfALargeLayoutAlone) {
  const std::string cuda = log_of(shorter({"--steps", "1", "--global-batch-size", "4", "--tp", "2",
                                           "--pp", "2", "--dp", "2", "--rank-slice", "5"}),
                                  true);
  EXPECT_THAT(cuda, HasSubstr("rank-slice: 5 of 8"));
}

}  // namespace
}  // namespace llmb::runner
