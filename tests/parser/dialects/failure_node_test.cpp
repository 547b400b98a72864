#include "parser/dialects/failure_node.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(FailureNode, IsTheOneWhereTheLineSaysThatItHappened) {
  EXPECT_EQ(node_of_failure("srun: error: gpu-05: task 2: Killed"), "gpu-05");
  EXPECT_EQ(node_of_failure("0: srun: error: n1.cluster: tasks 0-4,6-7: Terminated"), "n1.cluster");
  EXPECT_EQ(node_of_failure("srun: error: Node failure on gpu-04"), "gpu-04");
  EXPECT_EQ(node_of_failure("srun: error: Task launch for StepId=508.0 failed on node gpu-09: "
                            "Communication connection failure"),
            "gpu-09");
  EXPECT_EQ(node_of_failure("gpu-05:88:120 [3] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_create_cq "
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
    EXPECT_EQ(node_of_failure(line), "") << line;
  }
}

}  // namespace
}  // namespace llmb::parser
