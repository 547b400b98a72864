// Whose work a traceback is part of, and what a helper's complaint means for a run that has trained
// all; from lines to the verdict.
#include "parser/dialects/frame_owner.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "log_samples.h"
#include "parser/dialects/failure_class.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

std::string traceback(const std::string& file, const std::string& function) {
  return "Traceback (most recent call last):\n  File \"" + file + "\", line 7, in " + function +
         "\n    go(data)\nConnectionResetError: [Errno 104] Connection reset by peer\n";
}

std::string last_cause(const std::string& text) {
  const ParsedLog log = parse_log(text);
  return summarize_run(log.samples, log.facts, {11, 44}, false).failure_cause;
}

const std::string kDone = "Training complete after 600 steps\n";
const std::string kUpload = traceback("/w/uploader.py", "put");

TEST(FrameOwner, IsToldByFilesAndFunctions) {
  EXPECT_EQ(owner_of({"/w/train.py", "main"}), FrameOwner::program);
  EXPECT_EQ(owner_of({"/home/upload-team/a/b/c/d/train.py", "main"}), FrameOwner::program);
  EXPECT_EQ(owner_of({"/w/threads/threading.py", "run"}), FrameOwner::program);
  EXPECT_EQ(owner_of({"/usr/lib/python3.11/threading.py", "_bootstrap_inner"}), FrameOwner::helper);
  EXPECT_EQ(owner_of({"/usr/lib/python3.11/multiprocessing/queues.py", "_feed"}),
            FrameOwner::helper);
  EXPECT_EQ(owner_of({"/p/site-packages/wandb/sdk/service/service.py", "teardown"}),
            FrameOwner::helper);
  EXPECT_EQ(owner_of({"/p/torch/distributed/distributed_c10d.py", "destroy_process_group"}),
            FrameOwner::helper);
  EXPECT_EQ(owner_of({"/w/uploader.py", "save_state"}), FrameOwner::saving);
  EXPECT_EQ(owner_of({"/p/torch/serialization.py", "__init__"}), FrameOwner::saving);
}

TEST(HelperComplaint, IsNoFailureWhereAllWasTrained) {
  EXPECT_EQ(last_cause(kUpload), "python_exception");
  EXPECT_EQ(last_cause(kDone + kUpload), "");
  EXPECT_EQ(last_cause("final weights written to /w/o\n" + kUpload), "");
  // The program's own, and what is saved.
  EXPECT_EQ(last_cause(kDone + traceback("/w/train.py", "main")), "python_exception");
  EXPECT_EQ(last_cause(kDone + traceback("/w/uploader.py", "save")), "python_exception");
}

TEST(HelperComplaint, IsNoFailureWhereTheDeclaredLastStepWasReached) {
  const auto step = [](const std::string& number) {
    return "Training epoch 0, iteration " + number + "/1 | lr: 1e-06 | global_step: " + number +
           " | reduced_train_loss: 11.1 | train_step_timing in s: 4.4\n";
  };
  EXPECT_EQ(last_cause(step("0") + kUpload), "python_exception");
  EXPECT_EQ(last_cause(step("0") + step("1") + kUpload), "");
  EXPECT_EQ(last_cause(step("0") + step("1") + traceback("/w/train.py", "main")),
            "python_exception");
}

TEST(HelperComplaint, IsNoFailureWhereTheProgramHadCountedToItsEnd) {
  const std::string flush = "uploader: flushing 3 files\n";
  EXPECT_EQ(last_cause("start\nstep 600/600 loss 2.1\n" + flush + kUpload), "");
  EXPECT_EQ(last_cause("start\nstep 580/600 loss 2.1\n" + flush + kUpload), "python_exception");
  EXPECT_EQ(last_cause("start\nstep 600/600 loss 2.1\n" + flush + traceback("/w/a.py", "main")),
            "python_exception");
}

TEST(HelperComplaint, IsJudgedTheSameInAnotherProcess) {
  const std::string text = "start\nfit 400/400 ppl 4.1\n" + kUpload;
  const LogFacts whole = parse_log(text).facts;
  ASSERT_FALSE(whole.events.empty());
  EXPECT_EQ(whole.events.back().cause, kWentOn);
  expect_same_events_however_cut(text);
}

TEST(HelperComplaint, LeavesWhatFollowsToBeTold) {
  const std::string oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n";
  EXPECT_EQ(last_cause(kDone + kUpload + oom), "cuda_oom");
  EXPECT_EQ(last_cause(kDone + kUpload + traceback("/w/train.py", "main")), "python_exception");
  // A process ended otherwise than well, and nothing else says why.
  EXPECT_EQ(last_cause(kDone + kUpload + "srun: error: n1: task 0: Exited with exit code 1\n"),
            "python_exception");
}

TEST(HelperComplaint, CountsWhereAProgramBeganAnew) {
  EXPECT_EQ(last_cause(kDone + "Loading the checkpoint from /w/o\n" + kUpload), "python_exception");
}

TEST(HelperComplaint, OfAHookOfTheEndIsNoFailure) {
  const std::string hook = traceback("/w/report.py", "on_exit");
  const std::string lines(120, '\n');  // far from the log's first lines
  EXPECT_EQ(last_cause(lines + hook), "python_exception");
  EXPECT_EQ(last_cause(lines + "Error in atexit._run_exitfuncs:\n" + hook), "");
}

}  // namespace
}  // namespace llmb::parser
