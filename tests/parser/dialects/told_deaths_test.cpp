// What others say behind the word that a process has ended badly: it follows from that end, and a
// fatal word before it was not survived, though a rank's buffered step came between.
#include <gtest/gtest.h>

#include <string>

#include "parser/reader/log_reader.h"
#include "parser/statistics/event_role.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

std::string step_of(int iteration) {
  const std::string number = std::to_string(iteration);
  return "Training epoch 0, iteration " + number + "/49 | lr: 1e-06 | global_step: " + number +
         " | reduced_train_loss: 11.1 | train_step_timing in s: 4.4\n";
}

const std::string kFatalWord =
    "[rank30]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB.\n";
const std::string kToldDead =
    "E1029 03:13:05.9 118203 torch/distributed/elastic/multiprocessing/api.py:874] failed "
    "(exitcode: 1) local_rank: 6 (pid: 118246) of binary: /usr/bin/python\n";
const std::string kTaskExited = "srun: error: n4: task 30: Exited with exit code 1\n";
const std::string kOthersWaited =
    "[rank0]:[E1029 03:23:01.0 ProcessGroupNCCL.cpp:685] [Rank 0] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=42, OpType=ALLREDUCE) ran for 600013 milliseconds\n";
const std::string kOthersLostIt =
    "n1:24:26 [0] misc/socket.cc:64 NCCL WARN socketProgress: Connection closed by remote peer "
    "n4\n";

std::string cause_of_log(const std::string& text) {
  const ParsedLog log = parse_log(text);
  return summarize_run(log.samples, log.facts, {11, 44}, false).failure_cause;
}

TEST(ToldDeath, TellsThatAFatalWordBeforeTheLastStepWasNotSurvived) {
  for (const std::string& begin : {std::string(), step_of(0)}) {
    const std::string words = begin + kFatalWord + step_of(1);
    for (const std::string& others : {kOthersWaited, kOthersLostIt}) {
      EXPECT_EQ(cause_of_log(words + kToldDead + others), "cuda_oom");
      EXPECT_EQ(cause_of_log(words + kTaskExited + others), "cuda_oom");
    }
    EXPECT_EQ(cause_of_log(words + kOthersWaited + kToldDead), "nccl_timeout")
        << "who waited in vain is told dead, too";
  }
  const std::string far = kFatalWord + step_of(1) + step_of(40);
  EXPECT_EQ(cause_of_log(far + kToldDead + kOthersWaited), "nccl_timeout") << "it went on";
}

TEST(ToldDeath, IsOfTheSameRootForEachEvent) {
  const ParsedLog log = parse_log(step_of(0) + kFatalWord + step_of(1) + kToldDead + kOthersWaited);
  for (std::size_t i = 0; i < log.facts.events.size(); ++i) {
    const bool is_root = event_parts(log.facts, 4.4)[i].role == EventRole::root;
    EXPECT_EQ(is_root, log.facts.events[i].cause == "cuda_oom") << log.facts.events[i].line;
  }
}

// Of a program that no dialect knows what counts tells that it goes on.
TEST(ToldDeath, TellsThatAFatalWordBeforeTheLastCountWasNotSurvived) {
  const std::string counts = "[batch=1/90]:\n[batch=2/90]:\n[batch=3/90]:\n";
  EXPECT_EQ(cause_of_log(kFatalWord + counts + kToldDead + kOthersWaited), "cuda_oom");
  EXPECT_EQ(cause_of_log(kFatalWord + counts + kOthersWaited + kToldDead), "nccl_timeout");
}

TEST(ToldDeath, SaysLessThanWhatADriverNotes) {
  const std::string aborted = "srun: error: n11: task 41: Aborted (core dumped)\n";
  const std::string step_ended =
      "slurmstepd: error: *** STEP 61.0 ON n1 CANCELLED AT 2026-02-14T07:12:17 ***\n";
  const std::string noted =
      "[774410.802] NVRM: Xid (PCI:0009:01:00): 43, pid=171630, name=python\n";
  EXPECT_EQ(cause_of_log(step_of(0) + aborted + step_ended + noted), "gpu_process_error");
}

TEST(ToldDeath, OfWhatADriverNotedIsNoTimeoutOfOthers) {
  const std::string noted = "[7719.2] NVRM: Xid (PCI:0000:87:00): 43, pid=127733, name=python3\n";
  const std::string ended = "['python3', '-u', 'train.py'] exits with return code = -6\n";
  EXPECT_EQ(cause_of_log(step_of(0) + noted + ended + kOthersWaited), "gpu_process_error");
  EXPECT_EQ(cause_of_log(step_of(0) + noted + kOthersWaited + ended), "nccl_timeout");
}

}  // namespace
}  // namespace llmb::parser
