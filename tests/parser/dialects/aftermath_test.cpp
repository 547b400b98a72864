// What a log tells behind a failure: that what counts goes on, whoever prints it, and that all
// ended well; from lines to the verdict.
#include "parser/dialects/aftermath.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "log_samples.h"
#include "parser/dialects/counting_line.h"
#include "parser/dialects/failure_class.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/event_role.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

const std::string kComplaint =
    "Traceback (most recent call last):\n  File \"/w/uploader.py\", line 7, in put\n"
    "OSError: [Errno 5] Input/output error: '/w/out'\n";
const std::string kChildFailed =
    "E0917 20:45:57.9 4112 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: "
    "1) local_rank: 2 (pid: 4190) of binary: /usr/bin/python3\n";

bool goes_on(const std::string& earlier, const std::string& later) {
  const auto first = read_counting_line(earlier);
  const auto second = read_counting_line(later);
  return first && second && second->names_its_counts && second->follows(*first);
}

std::string cause_behind(const std::string& text) {
  const ParsedLog log = parse_log(text);
  return summarize_run(log.samples, log.facts, {11, 44}, false).failure_cause;
}

TEST(CountingLine, IsToldByItsShapeAndACountThatRises) {
  EXPECT_TRUE(goes_on("Epoch 1 | iter 40 step 10 | loss train: 9.965, val: n/a",
                      "Epoch 1 | iter 80 step 20 | loss train: 9.615, val: n/a"));
  EXPECT_TRUE(goes_on("step 9 loss 9.82 dt 812ms", "step 10 loss 1.0e-05 dt 81ms"));
  EXPECT_TRUE(goes_on("[batch=10/100]: Train loss/train/total: 9.99",
                      "[batch=80/100]: Train loss/train/total: 6.40"));
  EXPECT_TRUE(goes_on("{'loss': 3.2, 'learning_rate': 4.3e-06, 'epoch': 0.62}",
                      "{'loss': 3.0, 'learning_rate': 0.0, 'epoch': 0.75}"));
  EXPECT_TRUE(goes_on(" 25%|##      | 25/100 [01:02, global_step=24.0, loss=9.1]",
                      " 50%|####    | 50/100 [02:04, global_step=49.0, loss=7.8]"));
  // The unit may stand behind it.
  EXPECT_TRUE(goes_on("10 it | 8 nats | 41 ms", "25 it | 7 nats | 40 ms"));
  EXPECT_TRUE(
      goes_on("(10:02) 110 steps, nll 4.3, 17.9k t/s", "(10:02) 135 steps, nll 4.1, 18k t/s"));
  EXPECT_TRUE(goes_on("Epoch 0:  30%|#3 | 6000/20000 [1:02<3:49, 0.8it/s, loss=2.78]",
                      "Epoch 0:  31%|#3 | 6200/20000 [1:09<3:47, 0.8it/s, loss=2.77]"));
  EXPECT_TRUE(goes_on("it=451 loss=4.809 t=6.71", "it=452 loss=4.822 t=6.60"));
  EXPECT_TRUE(goes_on("train: it 200 loss 5.9 1.61 s/it", "train: it 400 loss 5.1 1.60 s/it"));
  // The next epoch begins at its first batch.
  EXPECT_TRUE(goes_on("Epoch 1, iter 400: loss 7.1", "Epoch 2, iter 10: loss 7.0"));
}

TEST(CountingLine, IsNoneWhereNothingOfTrainingIsCounted) {
  EXPECT_FALSE(
      goes_on("Sending process 4020 closing signal", "Sending process 4021 closing signal"));
  EXPECT_FALSE(goes_on("waiting at step 9 for 60 s", "waiting at step 9 for 120 s"));
  EXPECT_FALSE(goes_on("step 10 loss 9.82", "step 9 loss 9.85"));
  EXPECT_FALSE(goes_on("step 9 loss 9.82", "step 10 reward 9.82"));
  EXPECT_FALSE(goes_on("*** STEP 44.0 ON n1 ENDED", "*** STEP 44.1 ON n1 ENDED"));
  EXPECT_FALSE(goes_on("StepId=44.0 ended", "StepId=44.1 ended"));
  EXPECT_FALSE(goes_on("step 9 loss nan", "step 10 loss nan"));
  EXPECT_FALSE(goes_on("running at 40 it/s", "running at 41 it/s"));
  EXPECT_FALSE(goes_on("took 2.5 it", "took 2.6 it"));
  EXPECT_FALSE(goes_on("4/10 it", "4/20 it"));
  EXPECT_FALSE(goes_on("it 3 times", "it 4 times"));
  EXPECT_FALSE(goes_on("host 3/8 gone", "host 4/8 gone"));
  EXPECT_FALSE(goes_on("2025/10/10 [n1] down", "2025/10/11 [n1] down"));
  EXPECT_FALSE(read_counting_line(""));
}

TEST(CountingLine, TellsThatItHasCountedToItsEnd) {
  for (const char* const line :
       {"step 600/600 loss 2.1", "Epoch 4 of 4, batch 40 of 40, loss 2.1", "[400/400] ppl 1.6",
        "100%|##| 200 / 200 [01:20, train_loss=1.86]"}) {
    EXPECT_TRUE(has_counted_to_the_end(std::string("start\n") + line + "\nuploader: 3 files\n"))
        << line;
  }
  for (const char* const line :
       {"step 599/600 loss 2.1", "epoch 3/10 step 400/400 loss 2.1", "shards 30/30 in 2.1 s",
        "step 10 of 2025/10/10 loss 2.1", "loss 2.1 of 10.10.0.1", "step 1/1 loss 2.1", ""}) {
    EXPECT_FALSE(has_counted_to_the_end(std::string("start\n") + line + "\nuploader: 3 files\n"))
        << line;
  }
  // The last one counts; of one that may be cut nothing is known.
  EXPECT_FALSE(has_counted_to_the_end("\nstep 60/60 loss 2.1\nstep 1/60 loss 2.1\n"));
  EXPECT_FALSE(has_counted_to_the_end("step 60/60 loss 2.1\n"));
}

// The third of the same shape tells, by a number that rises as it did before.
bool counts_on(const std::vector<std::string>& three) {
  std::vector<CountingLine> lines;
  for (const std::string& text : three) {
    const auto line = read_counting_line(text);
    if (!line) return false;
    lines.push_back(*line);
  }
  CountingLine::Numbers rises{};
  for (std::size_t i = 0; i < rises.size(); ++i) {
    rises[i] = lines.at(1).numbers[i] - lines.at(0).numbers[i];
  }
  return lines.at(2).counts_on(lines.at(1), rises);
}

TEST(CountingLine, CountsWithoutANameByEqualSteps) {
  EXPECT_TRUE(counts_on(
      {"[00010] loss=8.54 sps=62.0", "[00020] loss=7.31 sps=62.3", "[00030] loss=6.34 sps=60.8"}));
  EXPECT_TRUE(counts_on({"   4.2 M   8.2341   41.0 k/s", "   8.4 M   7.6517   40.9 k/s",
                         "  12.6 M   6.9756   40.8 k/s"}));
  EXPECT_TRUE(
      counts_on({"lm |  250/3000 | ce 5.487 | 15235 tok/s", "lm |  500/3000 | ce 4.5 | 15 tok/s",
                 "lm |  750/3000 | ce 3.761 | 15070 tok/s"}));
  // An epoch says too little.
  EXPECT_TRUE(counts_on({"Epoch 0: at 44 of 200, train_loss=3.549",
                         "Epoch 0: at 56 of 200, train_loss=2.989",
                         "Epoch 0: at 68 of 200, train_loss=2.640"}));
  EXPECT_FALSE(counts_on({"r20 step 50 nll 4.11", "r21 step 50 nll 4.12", "r22 step 50 nll 4.11"}));
  EXPECT_FALSE(counts_on({"[10] loss=8.54", "[20] loss=7.31", "[20] loss=7.31"}));
  EXPECT_FALSE(counts_on({"[10] loss=8.54", "[20] loss=7.31", "[25] loss=7.01"}));
  EXPECT_FALSE(counts_on({"[30] loss=8.54", "[20] loss=7.31", "[10] loss=7.01"}));
  // The ranks of a node say something one after the other.
  EXPECT_FALSE(counts_on({"[1] peak 61.20 GiB", "[2] peak 61.18 GiB", "[3] peak 61.21 GiB"}));
  EXPECT_FALSE(counts_on({"gpu 13: 40.12 GiB", "gpu 14: 40.10 GiB", "gpu 15: 40.12 GiB"}));
  EXPECT_FALSE(counts_on({"GPU: 31.7 C, 40 %", "GPU: 32.4 C, 40 %", "GPU: 33.1 C, 40 %"}));
  EXPECT_FALSE(counts_on({"mem 61.0 GiB", "mem 61.1 GiB", "mem 61.2 GiB"}));
  EXPECT_TRUE(counts_on({"[15] loss=8.54", "[16] loss=7.31", "[17] loss=7.30"}));
  // Waiting, and addresses of others, are no training.
  EXPECT_FALSE(counts_on({"retry 1/9 in 2.0 s", "retry 2/9 in 2.0 s", "retry 3/9 in 2.0 s"}));
  EXPECT_FALSE(counts_on({"peer 10.4.0.1 gone", "peer 10.4.0.2 gone", "peer 10.4.0.3 gone"}));
  EXPECT_FALSE(counts_on({"process 1 gone", "process 2 gone", "process 3 gone"}));
  EXPECT_FALSE(counts_on({"StepId=44.0 ended", "StepId=44.1 ended", "StepId=44.2 ended"}));
}

TEST(Aftermath, SurvivesWhatTheCountWentOnAfter) {
  const std::string steps = "step 9 loss 9.82 dt 812ms\nstep 10 loss 9.80 dt 815ms\n";
  EXPECT_EQ(cause_behind(kComplaint), "file_system_error");
  EXPECT_EQ(cause_behind(steps + kComplaint), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + "step 9 loss 9.82 dt 812ms\n"), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + steps), "");
  const ParsedLog log = parse_log(kComplaint + steps);
  ASSERT_FALSE(log.facts.events.empty());
  EXPECT_EQ(log.facts.events.back().cause, kWentOn);
  for (const EventPart& part : event_parts(log.facts, {}))
    EXPECT_EQ(part.role, EventRole::survived);
}

TEST(Aftermath, SurvivesWhatThreeLinesWithoutANameWentOnAfter) {
  const std::string two = "fit: s=10 l=8.54 g=1.2\nfit: s=20 l=7.31 g=1.1\n";
  EXPECT_EQ(cause_behind(kComplaint + two), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + two + "fit: s=30 l=6.34 g=1.3\n"), "");
}

TEST(Aftermath, SurvivesWhatALineGoesOnAfterThatBeginsWithItsCount) {
  const std::string two = "[00010] loss=8.54 sps=62.0\n[00020] loss=7.31 sps=62.3\n";
  EXPECT_EQ(cause_behind(kComplaint + two), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + two + "[00030] loss=6.34 sps=60.8\n"), "");
  const std::string labelled =
      "2026-02-18T05:53:31Z [2] s=10 l=8.5\n2026-02-18T05:53:32Z [3] s=10 "
      "l=8.5\n2026-02-18T05:53:32Z [4] s=10 l=8.5\n";
  EXPECT_EQ(cause_behind(kComplaint + labelled), "file_system_error");
}

TEST(Aftermath, LeavesWhatFollowsToBeTold) {
  const std::string steps = "step 9 loss 9.82 dt 812ms\nstep 10 loss 9.80 dt 815ms\n";
  EXPECT_EQ(cause_behind(kComplaint + steps + "KeyError: 'x'\n"), "python_exception");
  // The same once more is another one.
  EXPECT_EQ(cause_behind(kComplaint + steps + kComplaint), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + steps + kComplaint + steps), "");
  // An end that says no reason: others had counted on until they waited for the rank.
  EXPECT_EQ(cause_behind(kComplaint + steps + kChildFailed), "file_system_error");
}

std::string counting(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) text += "step " + std::to_string(i) + " loss 9.8\n";
  return text;
}

const std::string kTimeLimit =
    "slurmstepd: error: *** JOB 64 ON n1 CANCELLED AT 2026-02-18T05:53:31 DUE TO TIME LIMIT ***\n";
const std::string kCancelled =
    "slurmstepd: error: *** JOB 64 ON n1 CANCELLED AT 2026-02-18T06:53:31 ***\n";
const std::string kTerminated = "srun: error: n1: tasks 0-7: Terminated\n";

// Until the last one is ended, ranks go on.
TEST(Aftermath, SurvivesAnEndFromOutsideWhereTheCountGoesOnForLong) {
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 20)), "time_limit");
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 21)), "");
  EXPECT_EQ(cause_behind(kTimeLimit + kTerminated + counting(1, 20)), "time_limit");
  EXPECT_EQ(cause_behind(kTimeLimit + kTerminated + counting(1, 21)), "");
  // Late ranks begin the count anew.
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 15) + counting(2, 16) + counting(3, 17)),
            "time_limit");
  // Two ranks tell of each step.
  std::string twice;
  for (int i = 1; i <= 21; ++i) twice += counting(i, i) + counting(i, i);
  EXPECT_EQ(cause_behind(kTimeLimit + twice), "");
}

TEST(Aftermath, SurvivesAUsersSignalSooner) {
  EXPECT_EQ(cause_behind("KeyboardInterrupt\n" + counting(1, 5)), "interrupted");
  EXPECT_EQ(cause_behind("KeyboardInterrupt\n" + counting(1, 6)), "");
}

TEST(Aftermath, SurvivesAnEndFromOutsideSoonerWhereAllEndsWell) {
  const std::string end = "--- job 64 ended with 0 ---\n";
  EXPECT_EQ(cause_behind(kTimeLimit + end), "time_limit");
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 5) + end), "time_limit");
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 6) + end), "");
  EXPECT_EQ(cause_behind(kTimeLimit + end + counting(1, 6) + end), "");
}

TEST(Aftermath, LeavesWhatEndsTheNextAttemptToBeTold) {
  const std::string attempt = kTimeLimit + counting(1, 30);
  EXPECT_EQ(cause_behind(attempt + "KeyError: 'x'\n"), "python_exception");
  EXPECT_EQ(cause_behind(attempt + "srun: error: n1: task 3: Killed\n"), "task_killed");
  EXPECT_EQ(cause_behind(attempt + "KeyboardInterrupt\n" + counting(31, 33)), "interrupted");
  // For a while only: what no end from outside brings about is the next attempt's.
  const std::string oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n";
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 6) + oom), "cuda_oom");
  const std::string frames =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 7, in fwd\n";
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 6) + frames + oom), "cuda_oom");
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 6) + kCancelled + oom), "time_limit");
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 5) + oom), "time_limit");
  EXPECT_EQ(cause_behind(kTimeLimit + counting(1, 6) + "KeyError: 'x'\n"), "time_limit");
  // It was given long to end.
  EXPECT_EQ(cause_behind(attempt + kTerminated), "time_limit");
}

TEST(Aftermath, OfAGoodEndIsNoFailureWhereNobodyTellsOfOne) {
  EXPECT_EQ(cause_behind(kComplaint + "mpirun returned 0\n"), "");
  EXPECT_EQ(cause_behind("mpirun returned 0\n" + kComplaint), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + "mpirun returned 0\n" + kComplaint), "file_system_error");
  EXPECT_EQ(cause_behind(kComplaint + kChildFailed + "job script: exit code 0\n"),
            "file_system_error");
}

TEST(Aftermath, EndsBesideAProgramThatHadDoneAllAreNoneOfIt) {
  const std::string done =
      "Training epoch 0, iteration 0/0 | lr: 1e-06 | global_step: 0 | reduced_train_loss: 11.1 | "
      "train_step_timing in s: 4.4\n`Trainer.fit` stopped: `max_steps=1` reached.\n";
  const std::string monitor =
      "slurmstepd: error: *** STEP 4.0 ON n1 CANCELLED AT 2026-02-14T07:12:17 ***\n";
  EXPECT_EQ(cause_behind(done + monitor), "cancelled");
  EXPECT_EQ(cause_behind(done + monitor + "training exit code 0\n"), "");
}

// It reaches as far as what others say of a failure, and not through a log.
TEST(Aftermath, EndsAtItsReach) {
  const auto behind = [](int lines) {
    std::string text = kComplaint;
    for (int i = 0; i < lines; ++i) text += "a line of the program\n";
    return cause_behind(text + "training exit code 0\n");
  };
  EXPECT_EQ(behind(150), "");
  EXPECT_EQ(behind(250), "file_system_error");
}

TEST(Aftermath, GoesOnInAnotherProcess) {
  const std::string text = kComplaint + "fit: s=1 l=8.5\nfit: s=2 l=8.4\n" +
                           "step 9 loss 9.82 dt 812ms\nstep 10 loss 9.80 dt 815ms\n" +
                           "KeyboardInterrupt\n" + counting(1, 6);
  expect_same_events_however_cut(text);
}

}  // namespace
}  // namespace llmb::parser
