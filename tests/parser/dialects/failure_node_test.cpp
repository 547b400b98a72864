#include "parser/dialects/failure_node.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parser/dialects/failure_class.h"

namespace llmb::parser {
namespace {

LogEvent failure(std::string_view cause, std::string_view line,
                 std::optional<std::int64_t> rank = {}) {
  LogEvent event;
  event.cause = cause;
  event.line = line;
  event.rank = rank;
  return event;
}

std::string node_of(std::string_view cause, std::string_view line) {
  const LogEvent event = failure(cause, line);
  return std::string(node_of_failure(event, {&event, 1}));
}

// Of a failure of this rank that others follow.
std::string node_among(std::string_view cause, std::optional<std::int64_t> rank,
                       const std::vector<std::string>& others) {
  std::vector<LogEvent> events = {failure(cause, "words", rank)};
  for (const std::string& line : others) events.push_back(failure("task_exited", line));
  return std::string(node_of_failure(events.front(), events));
}

TEST(FailureNode, IsTheOneWhereTheLineSaysThatItHappened) {
  EXPECT_EQ(node_of("task_killed", "srun: error: gpu-05: task 2: Killed"), "gpu-05");
  EXPECT_EQ(node_of("segmentation_fault",
                    "0: srun: error: n1.cluster: tasks 0-4,6-7: Segmentation fault"),
            "n1.cluster");
  EXPECT_EQ(node_of("node_failure", "srun: error: Node failure on gpu-04"), "gpu-04");
  EXPECT_EQ(node_of("srun_launch_error",
                    "srun: error: Task launch for StepId=508.0 failed on node gpu-09: "
                    "Communication connection failure"),
            "gpu-09");
  EXPECT_EQ(node_of("nccl_system_error",
                    "gpu-05:88:120 [3] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_create_cq "
                    "failed"),
            "gpu-05");
  EXPECT_EQ(node_of("gpu_hardware_error",
                    "Mar 23 19:58:44 gh-c2-1 kernel: NVRM: Xid (PCI:0019:01:00): 79, GPU has "
                    "fallen off the bus."),
            "gh-c2-1");
  EXPECT_EQ(node_of("gpu_hardware_error", "kite-g019 kernel: [1288144.9] NVRM: Xid: 79"),
            "kite-g019");
  EXPECT_EQ(node_of("cuda_error",
                    "vx-h200-27 [rank24]: torch.AcceleratorError: CUDA error: unspecified launch "
                    "failure"),
            "vx-h200-27");
  EXPECT_EQ(node_of("segmentation_fault", "[gpu-17:40211] *** Process received signal ***"),
            "gpu-17");
  EXPECT_EQ(node_of("segmentation_fault",
                    "mpirun noticed that process rank 19 with PID 0 on node gpu-17 exited on "
                    "signal 11 (Segmentation fault)."),
            "gpu-17");
  EXPECT_EQ(node_of("nan_gradient",
                    "AssertionError: Rank 11: found NaN in local grad norm in backward pass before "
                    "data-parallel communication collective. Device: 3, node: atl910-0042"),
            "atl910-0042");
  EXPECT_EQ(node_of("nan_gradient",
                    "RuntimeError: Rank 21, node grv-h03, device 5, iteration 15: Unexpected "
                    "result nan"),
            "grv-h03");
}

// Where the line names none, a launcher may say where its rank ended.
TEST(FailureNode, IsTheOneWhereTheTaskOfTheRankEnded) {
  const std::vector<std::string> ends = {
      "srun: error: gpu-01: tasks 0-7: Terminated",
      "srun: error: gpu-03: tasks 16,18,20-23: Exited with exit code 1",
      "slurmstepd: error: *** STEP 12.0 ON gpu-01 CANCELLED AT 2025-06-25T05:58:06 ***"};
  EXPECT_EQ(node_among("cuda_oom", 22, ends), "gpu-03");
  EXPECT_EQ(node_among("cuda_oom", 18, ends), "gpu-03");
  for (const std::int64_t rank : {3, 17, 24}) {  // ended with the others, of no node, of no task
    EXPECT_EQ(node_among("cuda_oom", rank, ends), "") << rank;
  }
  EXPECT_EQ(node_among("cuda_oom", std::nullopt, ends), "");
}

// All ranks read one configuration; a rank that waited is not the one that failed.
TEST(FailureNode, IsNotThatOfTheRankThatCameFirstWithWhatAllMeet) {
  const std::vector<std::string> ends = {"srun: error: gpu-03: task 2: Exited with exit code 1"};
  for (const char* const cause : {"configuration_error", "missing_module", "hf_authentication",
                                  "nan_loss", "python_exception", "time_limit", "peer_lost",
                                  "nccl_timeout", "a_cause_of_another_version"}) {
    EXPECT_EQ(node_among(cause, 2, ends), "") << cause;
  }
}

// What was told of another attempt is of another failure.
TEST(FailureNode, IsNotThatOfAnotherAttempt) {
  const std::vector<LogEvent> events = {
      failure("task_exited", "srun: error: gpu-01: tasks 0-7: Exited with exit code 1"),
      failure(kRestarted, "again"), failure("cuda_oom", "words", 2), failure(kWentOn, "step 3"),
      failure("task_exited", "srun: error: gpu-03: tasks 0-7: Exited with exit code 1")};
  EXPECT_EQ(node_of_failure(events[2], events), "");
}

// With torchrun in each task rank 2 is of the first node, and task 2 is the third.
TEST(FailureNode, IsNotTakenFromTheNumberOfATaskThatStartsRanks) {
  for (const char* const launcher :
       {"E0805 04:33:58.201000 1880 torch/distributed/elastic/multiprocessing/api.py:874] failed "
        "(exitcode: 1) local_rank: 2 (pid: 1933) of binary: /usr/bin/python",
        "[2025-01-02 03:04:05,1] [ERROR] [launch.py:325:sigkill_handler] ['python3', 'train.py'] "
        "exits with return code = 1"}) {
    const std::vector<std::string> ends = {launcher,
                                           "srun: error: gpu-03: task 2: Exited with exit code 1"};
    EXPECT_EQ(node_among("cuda_oom", 2, ends), "") << launcher;
  }
}

// Roles, counts and streams have numbers, too; and a program may speak of its kernels.
TEST(FailureNode, IsNoOtherWordBeforeALabelOrAKernel) {
  for (const char* const line :
       {"Worker-2: [rank3]: torch.OutOfMemoryError: x", "step12 [rank3]: CUDA error: x",
        "v2.1 [rank3]: CUDA error: x", "replica-2 | [rank3]: CUDA error: x",
        "stdout0: [rank3]: CUDA error: x", "2026-01-02 03:04:05 Triton kernel: CUDA error: x",
        "[03:04:05] ERROR kernel: RuntimeError: x"}) {
    EXPECT_EQ(node_of("illegal_memory_access", line), "") << line;
  }
  EXPECT_EQ(node_of("cuda_oom", "dgx-pod3-n7: [rank3]: torch.OutOfMemoryError: x"), "dgx-pod3-n7");
}

// A scheduler ends a job by its first node; a list is no node.
TEST(FailureNode, IsNoneWhereTheLineNamesAnotherThing) {
  for (const char* const line :
       {"slurmstepd: error: *** JOB 431 ON gpu-01 CANCELLED AT 2025-06-25T05:58:06 DUE TO TIME "
        "LIMIT ***",
        "srun: error: Unable to create step for job 507: More processors requested than permitted",
        "srun: error: gpu-[01-04]: tasks 0-7: Killed", "srun: error: something else",
        "Linux kernel: 5.15", "ERROR: Triton2 kernel: no image",
        "worker-2: [rank3]: RuntimeError: CUDA error: invalid argument",
        "trainer/0 [rank3]: RuntimeError: CUDA error", "12:03:11 [rank3]: RuntimeError",
        "srun: error: gpu-01: task 0: Exited with exit code 143",
        "torch.OutOfMemoryError: CUDA out of memory", ""}) {
    EXPECT_EQ(node_of("task_killed", line), "") << line;
  }
}

// Who lives on tells of it, and who was ended for it.
TEST(FailureNode, IsNotThatOfABystander) {
  for (const auto& [cause, line] : std::initializer_list<std::pair<const char*, const char*>>{
           {"peer_lost",
            "gpu-01:88:120 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by "
            "remote peer gpu-07<33010>"},
           {"peer_lost", "srun: error: gpu-01: task 0: Aborted"},
           {"nccl_timeout", "srun: error: gpu-01: task 0: Aborted"},
           {"nccl_system_error",
            "gpu-01:88:120 [0] transport/net_ib.cc:97 NCCL WARN NET/IB : Got completion from peer "
            "10.0.0.7<47211> with error 12, opcode 0, len 0, vendor err 129"},
           {"nccl_system_error",
            "gpu-01:88:120 [0] misc/socket.cc:466 NCCL WARN socketStartConnect: Connect to "
            "10.0.0.7<47211> failed : Connection refused"},
           {"task_killed", "0: srun: error: n1.cluster: tasks 0-4,6-7: Terminated"}}) {
    EXPECT_EQ(node_of(cause, line), "") << line;
  }
}

}  // namespace
}  // namespace llmb::parser
