#include "parser/dialects/failure_node.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace llmb::parser {
namespace {

TEST(FailureNode, IsTheOneWhereTheLineSaysThatItHappened) {
  EXPECT_EQ(node_of_failure("task_killed", "srun: error: gpu-05: task 2: Killed"), "gpu-05");
  EXPECT_EQ(node_of_failure("segmentation_fault",
                            "0: srun: error: n1.cluster: tasks 0-4,6-7: Segmentation fault"),
            "n1.cluster");
  EXPECT_EQ(node_of_failure("node_failure", "srun: error: Node failure on gpu-04"), "gpu-04");
  EXPECT_EQ(node_of_failure("srun_launch_error",
                            "srun: error: Task launch for StepId=508.0 failed on node gpu-09: "
                            "Communication connection failure"),
            "gpu-09");
  EXPECT_EQ(node_of_failure("nccl_system_error",
                            "gpu-05:88:120 [3] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_create_cq "
                            "failed"),
            "gpu-05");
}

// A scheduler ends a job by its first node; a list is no node.
TEST(FailureNode, IsNoneWhereTheLineNamesAnotherThing) {
  for (const char* const line :
       {"slurmstepd: error: *** JOB 431 ON gpu-01 CANCELLED AT 2025-06-25T05:58:06 DUE TO TIME "
        "LIMIT ***",
        "srun: error: Unable to create step for job 507: More processors requested than permitted",
        "srun: error: gpu-[01-04]: tasks 0-7: Killed", "srun: error: something else",
        "torch.OutOfMemoryError: CUDA out of memory", ""}) {
    EXPECT_EQ(node_of_failure("task_killed", line), "") << line;
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
    EXPECT_EQ(node_of_failure(cause, line), "") << line;
  }
}

}  // namespace
}  // namespace llmb::parser
