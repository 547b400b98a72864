#include "parser/dialects/exit_status.h"

#include <gtest/gtest.h>

#include "parser/dialects/failure_class.h"

namespace llmb::parser {
namespace {

TEST(ExitStatus, IsASignalBelowZeroAndAbove128) {
  EXPECT_EQ(cause_of_exit_status("-9"), "task_killed");
  EXPECT_EQ(cause_of_exit_status("137"), "task_killed");
  EXPECT_EQ(cause_of_exit_status("-11) local_rank: 0"), "segmentation_fault");
  EXPECT_EQ(cause_of_exit_status("139"), "segmentation_fault");
  EXPECT_EQ(cause_of_exit_status("1"), "child_failed");
  EXPECT_EQ(cause_of_exit_status("-6"), "child_failed");
  EXPECT_EQ(cause_of_exit_status("255"), "child_failed");
  EXPECT_EQ(cause_of_exit_status("-2147483648"), "child_failed");  // which has no opposite
}

TEST(ExitStatus, OfSuccessOfSigtermAndOfNoNumberSaysNothing) {
  for (const char* const rest : {"0", "-15", "143", "", "none", " 9"}) {
    EXPECT_EQ(cause_of_exit_status(rest), "") << rest;
  }
}

TEST(Signal, IsNamedByItsNumber) {
  EXPECT_EQ(cause_of_signal("9 (Killed)."), "task_killed");
  EXPECT_EQ(cause_of_signal("11 (Segmentation fault)."), "segmentation_fault");
  EXPECT_EQ(cause_of_signal("-9"), "");
  EXPECT_EQ(cause_of_signal("x"), "");
}

TEST(CudaMessage, QuotedByNcclIsOfTheDeviceOrOfNccl) {
  EXPECT_EQ(cause_of_quoted_cuda_message("NCCL WARN Cuda failure 2 'out of memory'"), "cuda_oom");
  EXPECT_EQ(cause_of_quoted_cuda_message("NCCL WARN Cuda failure 719 'unspecified launch failure'"),
            "cuda_error");
  EXPECT_EQ(cause_of_quoted_cuda_message("x.cc:1 NCCL WARN Cuda failure 'unknown error'"),
            "cuda_error");
  EXPECT_EQ(cause_of_quoted_cuda_message("NCCL WARN import: CUDA error 101 'invalid argument'"),
            "nccl_error");
  EXPECT_EQ(cause_of_quoted_cuda_message("Cuda failure 802 'system not yet initialized'"),
            "gpu_unavailable");
  EXPECT_EQ(cause_of_quoted_cuda_message("NCCL WARN Cuda failure"), "");
  EXPECT_EQ(cause_of_quoted_cuda_message("NCCL WARN Call to connect failed"), "");
}

TEST(ErrorNumber, NamesTheClassWhoeverPrintsIt) {
  EXPECT_EQ(cause_of_errno("28] No space left on device"), "disk_full_or_quota");
  EXPECT_EQ(cause_of_errno("121] Remote I/O error"), "file_system_error");
  EXPECT_EQ(cause_of_errno("2] No such file or directory"), "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of_errno("113 - No route to host)"), "rendezvous_failure");
  EXPECT_EQ(cause_of_errno("4] Interrupted system call"), "");
  EXPECT_EQ(cause_of_errno("?"), "");
}

TEST(CudaError, NamesTheClassByItsName) {
  EXPECT_EQ(cause_of_cuda_error("OUT_OF_MEMORY: out of memory"), "cuda_oom");
  EXPECT_EQ(cause_of_cuda_error("NO_DEVICE"), "gpu_unavailable");
  EXPECT_EQ(cause_of_cuda_error("ECC_UNCORRECTABLE"), "gpu_hardware_error");
  EXPECT_EQ(cause_of_cuda_error("LAUNCH_FAILED: unspecified"), "cuda_error");
}

TEST(CudaError, NamesTheClassByItsSentence) {
  EXPECT_EQ(cause_of_cuda_message("out of memory"), "cuda_oom");
  EXPECT_EQ(cause_of_cuda_message("misaligned address"), "illegal_memory_access");
  EXPECT_EQ(
      cause_of_cuda_message("system has unsupported display driver / cuda driver combination"),
      "gpu_unavailable");
  EXPECT_EQ(cause_of_cuda_message("unspecified launch failure"), "cuda_error");
  EXPECT_EQ(cause_of_cuda_message(""), "cuda_error");
}

TEST(ShellStatus, TellsOfSignalsOnly) {
  EXPECT_EQ(cause_of_shell_status("137."), "task_killed");
  EXPECT_EQ(cause_of_shell_status("139"), "segmentation_fault");
  EXPECT_EQ(cause_of_shell_status("1."), "");
  EXPECT_EQ(cause_of_shell_status("-9"), "");
}

TEST(ErrorNumber, AndExitStatusNameClassesThatThereAre) {
  for (int number = -64; number < 256; ++number) {
    const std::string text = std::to_string(number);
    for (const std::string_view cause : {cause_of_exit_status(text), cause_of_shell_status(text),
                                         cause_of_signal(text), cause_of_errno(text)}) {
      if (cause.empty()) continue;
      EXPECT_NE(find_failure_class(cause), nullptr) << cause;
    }
  }
}

}  // namespace
}  // namespace llmb::parser
