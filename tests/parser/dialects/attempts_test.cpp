// What a log amounts to that launchers and schedulers begin anew, what the order of its ends tells,
// and who tells it: from lines to the verdict.
#include <gmock/gmock.h>

#include <cstring>

#include "log_samples.h"
#include "parser/dialects/failure_class.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/event_role.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

using testing::ElementsAre;

const std::string kStep =
    "Training epoch 0, iteration 3/49 | lr: 1e-06 | global_step: 3 | reduced_train_loss: 11.1 | "
    "train_step_timing in s: 4.4\n";
const std::string kNextStep =
    "Training epoch 0, iteration 4/49 | lr: 1e-06 | global_step: 4 | reduced_train_loss: 11.0 | "
    "train_step_timing in s: 4.4\n";
const std::string kOutOfMemory =
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB.\n";
const std::string kEndOfWorker =
    "E0917 20:45:57.9 4112 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: "
    "-6) local_rank: 2 (pid: 4190) of binary: /usr/bin/python3\n";
const std::string kRestart =
    "I0917 20:45:57.9 4112 torch/distributed/elastic/agent/server/api.py:918] [default] Worker "
    "group FAILED. 3/3 attempts left; will restart worker group\n";
const std::string kPreemption =
    "slurmstepd: error: *** JOB 64 ON n1 CANCELLED AT 2026-02-18T05:53:31 DUE TO PREEMPTION ***\n";
const std::string kStartOfRanks =
    "All distributed processes registered. Starting with 8 processes\n";
const std::string kLostPeer =
    "n8:24:26 [0] misc/socket.cc:64 NCCL WARN socketProgress: Connection closed by remote peer "
    "n8\n";
const std::string kKill = "srun: error: n8: task 61: Killed\n";
const std::string kEndOfStep =
    "slurmstepd: error: *** STEP 61.0 ON n1 CANCELLED AT 2026-02-14T07:12:17 ***\n";
const std::string kTimeout =
    "[rank1]:[E325 05:56:23.4 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE) ran for 600051 milliseconds\n";

RunSummary judge_attempts(const std::string& text, bool may_still_grow) {
  const ParsedLog log = parse_log(text);
  return summarize_run(log.samples, log.facts, {11, 44}, may_still_grow);
}

std::string cause_of_dead(const std::string& text) {
  return judge_attempts(text, false).failure_cause;
}

TEST(Attempts, ThatALauncherBeginsAnewHaveNotFailed) {
  for (const std::string& steps : {std::string(), kStep}) {
    EXPECT_EQ(judge_attempts(steps + kEndOfWorker, true).status, RunStatus::failed);
    EXPECT_EQ(judge_attempts(steps + kEndOfWorker + kRestart, true).status, RunStatus::running);
    EXPECT_EQ(judge_attempts(steps + kPreemption + kStartOfRanks, true).status, RunStatus::running);
  }
}

// Ranks that have yet to be ended log steps, and so does another attempt.
TEST(Attempts, OfALogThatGrowsAreNotOverWhileStepsFollowAnEnd) {
  std::string steps;
  for (int i = 0; i < 5; ++i) {
    std::string step = kStep;
    for (const auto* const name : {"iteration ", "global_step: "}) {
      step.replace(step.find(name) + std::strlen(name), 1, std::to_string(i));
    }
    steps += step;
    if (i == 2) steps += kPreemption;
  }
  const ParsedLog log = parse_log(steps);
  ASSERT_THAT(log.facts.segments, testing::SizeIs(1));
  EXPECT_EQ(judge_attempts(steps, false).failure_cause, "preempted");
  EXPECT_EQ(judge_attempts(steps, true).status, RunStatus::running);
  const RunSummary silent =
      summarize_run(log.samples, log.facts, {11, 44}, true, Silence{1000, 4.4});
  EXPECT_EQ(silent.status, RunStatus::failed);
  EXPECT_EQ(judge_attempts(steps + kEndOfStep, true).status, RunStatus::failed);
}

// Somebody ended it near the end, and it was requeued in time.
TEST(Attempts, ThatReachTheirLastIterationNobodyEnded) {
  const auto steps_of = [](int last) {
    std::string text;
    for (int i = 8; i <= 12; ++i) {
      text += "Training epoch 0, iteration " + std::to_string(i) + "/" + std::to_string(last) +
              " | lr: 1e-06 | global_step: " + std::to_string(i) +
              " | reduced_train_loss: 11.1 | train_step_timing in s: 4.4\n";
      if (i == 10) text += kPreemption;
    }
    return text;
  };
  EXPECT_EQ(cause_of_dead(steps_of(49)), "preempted");
  EXPECT_EQ(cause_of_dead(steps_of(12)), "");
}

TEST(Attempts, EndByTheLastOnesCauseOrAnEarlierOneThatSaysMore) {
  const std::string full = "[rank0]: OSError: [Errno 28] No space left on device\n";
  EXPECT_EQ(cause_of_dead(kOutOfMemory + kEndOfWorker + kRestart + full + kEndOfWorker),
            "disk_full_or_quota");
  EXPECT_EQ(cause_of_dead(kOutOfMemory + kEndOfWorker + kRestart + kEndOfWorker), "cuda_oom");
  EXPECT_EQ(cause_of_dead(kStep + kPreemption + kStartOfRanks), "preempted");
  EXPECT_EQ(cause_of_dead(kStep + kPreemption + kStartOfRanks + kEndOfWorker), "child_failed");
}

TEST(Attempts, OfThoseWithoutStepsTheFirstAndTheLastAreKept) {
  std::string text = kOutOfMemory;
  for (int i = 0; i < 100; ++i) text += kEndOfWorker + kRestart;
  const ParsedLog log = parse_log(text + kTimeout);
  std::vector<std::string> causes;
  for (const LogEvent& event : log.facts.events) causes.push_back(event.cause);
  EXPECT_THAT(causes, ElementsAre("cuda_oom", "child_failed", kRestarted, "nccl_timeout"));
  std::vector<EventRole> roles;
  for (const EventPart& part : event_parts(log.facts, {})) roles.push_back(part.role);
  EXPECT_THAT(roles, ElementsAre(EventRole::survived, EventRole::survived, EventRole::survived,
                                 EventRole::root));
}

// What the third and the fourth attempt fail by, the second left behind: a GPU that is gone.
TEST(Attempts, OfThoseWithoutStepsTheLastThatWentOnIsKept) {
  const std::string refused = "requests.exceptions.ConnectionError: x: Max retries exceeded\n";
  const std::string counts = "r0 | step 48010 | loss 2.22\nr0 | step 48020 | loss 2.21\n";
  const std::string fault = "NVRM: Xid (PCI:0000:ab:00): 79, GPU has fallen off the bus.\n";
  const std::string absent = "[rank7]: RuntimeError: CUDA error: invalid device ordinal\n";
  std::string text = refused + kEndOfWorker + kRestart + counts + fault + kEndOfWorker + kRestart;
  for (int i = 0; i < 100; ++i) text += absent + kEndOfWorker + kRestart;
  EXPECT_EQ(cause_of_dead(text + kEndOfWorker), "gpu_hardware_error");
  EXPECT_THAT(parse_log(text).facts.events, testing::SizeIs(testing::Le(12)));
}

TEST(Attempts, ThatMissOthersEndByWhatEndedTheOneBefore) {
  const std::string missing = "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n";
  EXPECT_EQ(cause_of_dead(missing), "rendezvous_failure");
  EXPECT_EQ(cause_of_dead(kTimeout + kEndOfWorker + kRestart + missing), "nccl_timeout");
  EXPECT_EQ(cause_of_dead(kPreemption + kStartOfRanks + missing), "rendezvous_failure");
}

// Rank 0's steps may be printed behind what another rank failed by.
TEST(Attempts, EndByAThingItselfBeforeTheFirstOfAFewSteps) {
  const std::string aborted = "srun: error: n13: task 12: Aborted (core dumped)\n";
  EXPECT_EQ(cause_of_dead("RuntimeError: CUDA error: uncorrectable NVLink error detected\n" +
                          kStep + aborted),
            "gpu_hardware_error");
  EXPECT_EQ(cause_of_dead("slurmstepd: error: pyxis: URL https://x returned error code: 503\n" +
                          kStep + aborted),
            "child_failed");
}

TEST(Attempts, ThatTheProgramSaysItHasDoneHaveNotFailedByWhatItCaughtBefore) {
  const std::string loss =
      "{'loss': 1.5, 'grad_norm': 0.5, 'learning_rate': 1e-06, 'epoch': 0.9}\n";
  const std::string caught = "HTTPError: 500 Server Error for url: https://huggingface.co/x\n";
  const std::string done = "{'train_runtime': 611.4, 'train_loss': 1.121, 'epoch': 1.0}\n";
  EXPECT_EQ(cause_of_dead(loss + caught), "hf_unreachable");
  EXPECT_EQ(cause_of_dead(loss + caught + done), "");
  EXPECT_EQ(cause_of_dead(loss + caught + "job exited with code 0\n"), "hf_unreachable");
  EXPECT_EQ(
      cause_of_dead(loss + caught + done + "srun: error: n1: task 0: Exited with exit code 1\n"),
      "hf_unreachable");
}

TEST(Attempts, EndByTheReasonThatSlurmTellsLater) {
  EXPECT_EQ(cause_of_dead(kEndOfStep + kPreemption), "preempted");
  EXPECT_EQ(cause_of_dead(kPreemption + kEndOfStep), "preempted");
}

// Who names other ranks, or leaves open which of two it was, lets others tell it, though later.
TEST(Attempts, EndByWhoSaysMoreThanThatOthersFailed) {
  const std::string named =
      "torch.distributed.checkpoint.api.CheckpointException: CheckpointException "
      "ranks:dict_keys([16])\n";
  EXPECT_EQ(cause_of_dead(named), "checkpoint_unreadable");
  EXPECT_EQ(cause_of_dead(named + "OSError: [Errno 122] Disk quota exceeded\n"),
            "disk_full_or_quota");
  const std::string open =
      "[rank8]:[E227 20:01:44.3 ProcessGroupNCCL.cpp:1785] [Rank 8] Exception (either an error or "
      "timeout) detected by watchdog at work: 30849\n"
      "[rank8]:[E227 20:01:44.3 ProcessGroupNCCL.cpp:1834] [Rank 8] Timeout at NCCL work: 30849\n";
  EXPECT_EQ(cause_of_dead(kLostPeer + open), "peer_lost");
  EXPECT_EQ(cause_of_dead(open + kTimeout), "nccl_timeout");
}

// Who never came tells it himself, though later.
TEST(Attempts, ThatWaitedForOthersEndByWhatKeptThem) {
  EXPECT_EQ(cause_of_dead("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
                          "19m  Warning  Failed  pod/w-1  Failed to pull image \"x\"\n"),
            "container_error");
}

// Behind an end from outside: what a program does, or refuses, only when it begins.
TEST(Attempts, BeginWithWhatProgramsTellOfTheirStart) {
  const std::string ended = kStep + kPreemption;
  EXPECT_EQ(cause_of_dead(ended + kOutOfMemory), "preempted");
  for (const char* const start :
       {"0:  loading distributed checkpoint from /ckpt/run4 at iteration 16\n",
        "0:  > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 80302\n",
        "using world size: 64, data-parallel size: 4\n",
        "0:   successfully loaded checkpoint from /ckpt/run4 [ t 1/2, p 1/4 ] at iteration 16\n"}) {
    EXPECT_EQ(cause_of_dead(ended + start + kOutOfMemory), "cuda_oom") << start;
  }
  EXPECT_EQ(cause_of_dead(ended + "RuntimeError: PytorchStreamReader failed reading zip archive\n"),
            "checkpoint_unreadable");
  EXPECT_EQ(cause_of_dead(ended + "train.py: error: unrecognized arguments: --x\n"),
            "configuration_error");
}

TEST(Attempts, BeginAnewBehindSlurmsRequeue) {
  const std::string exited = "srun: error: n1: task 0: Exited with exit code 1\n";
  const std::string requeue =
      "slurmstepd: error: *** JOB 64 ON n1 CANCELLED AT 2026-02-18T05:53:31 DUE TO JOB REQUEUE "
      "***\n";
  const std::string mistake = "[rank7]: TypeError: f() missing 1 required positional argument\n";
  EXPECT_EQ(cause_of_dead(kOutOfMemory + exited + requeue + mistake), "python_exception");
  EXPECT_EQ(cause_of_dead(kOutOfMemory + exited + requeue), "cuda_oom");
  EXPECT_EQ(cause_of_dead(kStep + requeue + mistake), "preempted") << "a rank that was ended";
  const std::string count = "SLURM_RESTART_COUNT=1\n";
  EXPECT_EQ(cause_of_dead(kStep + requeue + count + mistake), "python_exception");
}

TEST(Attempts, BeginNoneWhereNobodyEndedTheRun) {
  EXPECT_THAT(parse_log(kOutOfMemory + kStartOfRanks).facts.events, testing::SizeIs(1));
  EXPECT_EQ(cause_of_dead(kOutOfMemory + kStartOfRanks + kEndOfStep), "cuda_oom");
}

// Before rank 0 waits for the others it may log a step more.
TEST(OrderOfEnds, AFaultOfTheGpuBeforeTheLastStepExplainsLostPeers) {
  const std::string fault =
      "[rank7]: torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered\n";
  EXPECT_EQ(cause_of_dead(kStep + fault + kNextStep + kLostPeer), "gpu_hardware_error");
  EXPECT_EQ(cause_of_dead(kStep + fault + kNextStep + kTimeout), "gpu_hardware_error");
  EXPECT_EQ(cause_of_dead(kStep + kOutOfMemory + kNextStep + kTimeout), "nccl_timeout")
      << "what may be caught";
  std::string interval_lines;
  for (const char* const iteration : {"50", "100", "150", "200"}) {
    interval_lines += std::string("Training epoch 0, iteration ") + iteration +
                      "/999 | lr: 1e-06 | global_step: " + iteration +
                      " | reduced_train_loss: 11.1 | train_step_timing in s: 4.4\n";
  }
  EXPECT_EQ(cause_of_dead(kStep + fault + interval_lines + kLostPeer), "peer_lost")
      << "each line stands for fifty steps";
}

// What ended an attempt before is not why the next one was killed that had counted on.
TEST(Attempts, EndByNothingThatTheOneBeforeOvercame) {
  const std::string counts = "[batch=1/90]:\n[batch=2/90]:\n[batch=3/90]:\n[batch=4/90]:\n";
  const std::string banner = "### attempt 2 of 3 ###\n";
  const std::string killed = "ERROR:composer.cli.launcher:Rank 11 crashed with exit code -9.\n";
  EXPECT_EQ(cause_of_dead(kOutOfMemory + banner + counts + killed), "task_killed");
  EXPECT_EQ(cause_of_dead(kOutOfMemory + banner + killed), "cuda_oom");
}

TEST(OrderOfEnds, AKillThatWasToldFirstExplainsLostPeers) {
  EXPECT_EQ(cause_of_dead(kLostPeer + kKill + kEndOfStep), "task_killed");
  EXPECT_EQ(cause_of_dead(kLostPeer + kEndOfStep + kKill), "peer_lost");
  // Ranks that lost it end themselves, which kills no other.
  const std::string aborts =
      "[rank8]: terminate called after throwing an instance of 'c10::Error'\n";
  const std::string aborted = "srun: error: n7: task 56: Aborted (core dumped)\n";
  EXPECT_EQ(cause_of_dead(kLostPeer + aborts + aborted + kKill + kEndOfStep), "task_killed");
  EXPECT_EQ(cause_of_dead(kLostPeer + aborted + kKill), "task_killed");
  EXPECT_EQ(cause_of_dead(kLostPeer + aborts + kEndOfStep + kKill), "peer_lost");
  EXPECT_EQ(cause_of_dead(kKill + kTimeout), "task_killed");
  EXPECT_EQ(cause_of_dead(kTimeout + kKill), "nccl_timeout");
}

TEST(OrderOfEnds, AShellsComplaintIsNotWhatAStepWasTakenDownFor) {
  const std::string complaint = "/var/spool/slurm_script: line 11: module: command not found\n";
  EXPECT_EQ(cause_of_dead(complaint + kEndOfStep + kLostPeer), "cancelled");
}

TEST(OrderOfEnds, WhatCrashesWhileAStepIsTakenDownIsNotWhy) {
  const std::string raised = "[rank37]: ValueError: 3 tokens are left\n";
  const std::string crash = "srun: error: n8: task 60: Segmentation fault (core dumped)\n";
  EXPECT_EQ(cause_of_dead(raised + kEndOfStep + crash), "python_exception");
  EXPECT_EQ(cause_of_dead(raised + crash), "segmentation_fault");
  EXPECT_EQ(cause_of_dead(kLostPeer + kEndOfStep + crash), "segmentation_fault");
}

TEST(OrderOfEnds, OthersWaitForARankThatSaidWhyItEnded) {
  const std::string broken =
      "[rank0]: Traceback (most recent call last):\n"
      "[rank0]:   File \"/opt/tracker/client.py\", line 133, in send\n"
      "[rank0]: BrokenPipeError: [Errno 32] Broken pipe\n";
  EXPECT_EQ(cause_of_dead(broken + kTimeout), "python_exception");
  EXPECT_EQ(cause_of_dead(kTimeout + broken), "nccl_timeout");
}

TEST(OrderOfEnds, ARanksOwnMistakeExplainsThePeersThatWereToldLostBefore) {
  const std::string head = "[rank0]: Traceback (most recent call last):\n";
  const std::string mistake = head + "[rank0]: ZeroDivisionError: division by zero\n";
  const std::string aborted =
      "[rank9]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 9.\n";
  EXPECT_EQ(cause_of_dead(kLostPeer + mistake), "python_exception");
  EXPECT_EQ(cause_of_dead(aborted + mistake), "python_exception");
  EXPECT_EQ(cause_of_dead(kLostPeer + head + "[rank0]: RuntimeError: x\n"), "peer_lost");
  EXPECT_EQ(cause_of_dead(kTimeout + mistake), "nccl_timeout");
  const std::string shapes =
      head + "[rank0]: RuntimeError: mat1 and mat2 shapes cannot be multiplied (577x8 and 4x4)\n";
  EXPECT_EQ(cause_of_dead(kTimeout + shapes), "python_exception");
}

// The agent says less than who waited.
TEST(OrderOfEnds, OfABarrierItsNameTellsWhatWasWaitedFor) {
  const std::string agent =
      "E0225 09:25:31.018820 412 coordination_service_agent.cc:712] Coordination agent is set to "
      "ERROR: DEADLINE_EXCEEDED: Barrier timed out.\n";
  const std::string waited =
      "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: "
      "PjRT_Client_Connect::0.\n";
  EXPECT_EQ(cause_of_dead(agent + waited), "rendezvous_failure");
  EXPECT_EQ(cause_of_dead(agent), "nccl_timeout");
}

// Its workers are gone, whoever ended them.
TEST(OrderOfEnds, WhoHandsBatchesOnEndsNoRun) {
  const std::string thread =
      "Exception in thread Thread-6 (_pin_memory_loop):\nTraceback (most recent call last):\n"
      "  File \"/w/threading.py\", line 980, in _bootstrap_inner\n    self.run()\n"
      "ConnectionResetError: [Errno 104] Connection reset by peer\n";
  const std::string ended =
      "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-05T03:03:03 ***\n";
  EXPECT_EQ(cause_of_dead(kStep + thread + ended), "cancelled");
}

TEST(OrderOfEnds, WhatFollowsAGoodEndIsNoFailureUnlessSomebodyTellsOfOne) {
  const std::string done = kStep + "[after training is done] datetime: 2026-01-05 03:03:03\n";
  const std::string thread =
      "Exception in thread QueueFeederThread:\nTraceback (most recent call last):\n"
      "BrokenPipeError: [Errno 32] Broken pipe\n";
  EXPECT_EQ(cause_of_dead(done + thread), "");
  EXPECT_EQ(cause_of_dead(done + thread + kEndOfWorker), "python_exception");
  EXPECT_EQ(cause_of_dead(kStep + thread), "python_exception");
}

// A launcher that labels does so with every line of its tasks.
TEST(Scripts, AroundLabelledTasksSayNothingOfWhyTheseFailed) {
  const std::string script = "ModuleNotFoundError: No module named 'blessed'\n";
  const std::string task = "101: ModuleNotFoundError: No module named 'megatron.bridge'\n";
  const std::string mistake = "101: KeyError: 'x'\n";
  const auto causes_of = [](const std::string& text) {
    std::string causes;
    for (const LogEvent& event : parse_log(text).facts.events) {
      causes += event.cause + ": " + event.line + "\n";
    }
    return causes;
  };
  const std::string of_task =
      "missing_module: ModuleNotFoundError: No module named "
      "'megatron.bridge'\n";
  const std::string of_mistake = "python_exception: KeyError: 'x'\n";
  EXPECT_EQ(causes_of(script + task), of_task);
  EXPECT_EQ(causes_of(task + script), of_task);
  EXPECT_EQ(causes_of(script + mistake), of_mistake);
  EXPECT_EQ(causes_of(mistake + script), of_mistake);
  EXPECT_EQ(cause_of_dead(script + "101: Traceback (most recent call last):\n"), "missing_module");
  // Without labels anybody may have printed it.
  EXPECT_EQ(cause_of_dead("KeyError: 'x'\n" + script), "missing_module");
  // What a scheduler or the kernel says is of no script.
  EXPECT_EQ(cause_of_dead("Out of memory: Killed process 41 (python)\n" + mistake),
            "host_oom_kill");
}

TEST(Scripts, BehindAToldEndSayNothingOfIt) {
  const std::string collects =
      "Traceback (most recent call last):\n  File \"/w/collect.py\", line 3, in <module>\n"
      "FileNotFoundError: [Errno 2] No such file or directory: '/w/log.out'\n";
  EXPECT_EQ(cause_of_dead("TypeError: x\n" + kEndOfWorker + collects), "python_exception");
  EXPECT_EQ(cause_of_dead("TypeError: x\n" + collects), "tokenizer_or_data_missing");
  EXPECT_EQ(cause_of_dead(kEndOfWorker + collects), "tokenizer_or_data_missing");
  // A rank, whose words were late.
  EXPECT_EQ(cause_of_dead("TypeError: x\n" + kEndOfWorker +
                          "[rank3]: FileNotFoundError: [Errno 2] No such file: '/w/vocab.json'\n"),
            "tokenizer_or_data_missing");
}

TEST(ReasonOfAnEnd, IsNotWhatAProgramBeganInSpiteOf) {
  const std::string first = "ModuleNotFoundError: No module named 'blessed'\n";
  const std::string second = "ModuleNotFoundError: No module named 'apex'\n";
  const auto line_of = [](const std::string& text) {
    const ParsedLog log = parse_log(text);
    return log.facts.events.empty() ? "" : log.facts.events[0].line + "\n";
  };
  EXPECT_EQ(line_of(first + second), first);
  EXPECT_EQ(line_of(first + kStartOfRanks + second), second);
  // Why a driver refuses a device is its last word, whoever else begins.
  const std::string refused =
      "8: UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: "
      "system not yet initialized\n";
  EXPECT_EQ(
      "8: " + line_of(refused + kStartOfRanks + "8: RuntimeError: No CUDA GPUs are available\n"),
      refused);
}

TEST(ReasonOfAnEnd, IsTheExceptionRatherThanTheNoteWithItsWords) {
  const std::string words = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17197694";
  const std::string note =
      "E1218 17:42:51.101700    1841 pjrt_client.cc:2985] Execution of replica 0 failed: " + words;
  const auto line_of = [](const std::string& text) {
    const ParsedLog log = parse_log(text);
    return log.facts.events.empty() ? "" : log.facts.events.back().line;
  };
  const std::string exception = "jaxlib.xla_extension.XlaRuntimeError: " + words;
  EXPECT_EQ(line_of(note + "\n" + exception + "\n"), exception);
  EXPECT_EQ(line_of(exception + "\n" + note + "\n"), exception);
  // Who says it in other words may know more.
  EXPECT_EQ(line_of(note + "\ntorch.OutOfMemoryError: CUDA out of memory.\n"), note);
}

TEST(ReasonOfAnEnd, IsQuotedRatherThanThatThereWasOne) {
  const std::string that = "slurmstepd: error: pyxis: child 28 failed with error code: 1\n";
  const std::string why =
      "slurmstepd: error: pyxis:     [ERROR] URL https://r/v2/x returned error code: 401\n";
  const ParsedLog log = parse_log(that + "slurmstepd: error: pyxis: printing enroot log file:\n" +
                                  why + "slurmstepd: error: pyxis: couldn't start container\n");
  ASSERT_THAT(log.facts.events, testing::SizeIs(1));
  EXPECT_EQ(log.facts.events[0].line + "\n", why);
}

// As pyxis 0.20 wrote them under Slurm 22.05: the lines of two nodes, of which one says why first.
TEST(ReasonOfAnEnd, IsQuotedOfWhicheverNodeTellsIt) {
  const std::string of_spank =
      "slurmstepd: error: pyxis: couldn't start container\n"
      "slurmstepd: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\n"
      "slurmstepd: error: Failed to invoke spank plugin stack\n";
  const std::string why =
      "slurmstepd: error: pyxis:     [ERROR] No such file or directory: /images/x.sqsh";
  const RunSummary run =
      judge_attempts("slurmstepd: error: pyxis: child 28 failed with error code: 1\n" + of_spank +
                         "slurmstepd: error: pyxis: printing enroot log file:\n" + why + "\n" +
                         of_spank + kEndOfStep,
                     false);
  EXPECT_EQ(run.failure_cause, "container_error");
  EXPECT_EQ(run.status_reason,
            "the run died before its first step: container_error, '" + why + "'");
}

// It cannot remove the container of a step that Slurm ends, or does not get to import one.
TEST(ReasonOfAnEnd, IsNotWhatPyxisSaysAfterIt) {
  const std::string cleanup = "slurmstepd: error: pyxis: child 28 failed with error code: 1\n";
  EXPECT_EQ(cause_of_dead(kStep + kOutOfMemory + kEndOfStep + cleanup), "cuda_oom");
  EXPECT_EQ(cause_of_dead(kStep + kPreemption + kEndOfStep + cleanup), "preempted");
  const std::string import =
      "slurmstepd: error: pyxis: child 28 terminated with signal 15\n"
      "slurmstepd: error: pyxis: failed to import docker image\n"
      "slurmstepd: error: pyxis: printing enroot log file:\n"
      "slurmstepd: error: pyxis:     [INFO] Fetching image manifest list\n"
      "slurmstepd: error: pyxis: couldn't start container\n";
  EXPECT_EQ(cause_of_dead(kPreemption + kEndOfStep + import), "preempted");
  // A rank waited for those of a node that was still at it.
  EXPECT_EQ(
      cause_of_dead("llmb-step-runner: rank 0 waited 120 s at n1:25168; did not come: rank 4\n" +
                    import),
      "rendezvous_failure");
  // Requeued, and now the image is gone.
  EXPECT_EQ(cause_of_dead(kPreemption + kEndOfStep + cleanup +
                          "slurmstepd: error: pyxis:     [ERROR] No such file or directory: /x\n"),
            "container_error");
}

TEST(Attempts, EndByATaskRatherThanByTheStepThatSlurmEndsForIt) {
  const std::string complaint =
      "slurmstepd: error: Failed to read cgroup memory.swap.max of step_0, ignoring\n";
  const std::string exit = "srun: error: n8: task 22: Exited with exit code 13\n";
  EXPECT_EQ(cause_of_dead(complaint + exit + kEndOfStep), "task_exited");
  EXPECT_EQ(cause_of_dead(complaint + kKill + kEndOfStep), "task_killed");
  EXPECT_EQ(cause_of_dead(complaint + kEndOfStep + exit), "cancelled");
  EXPECT_EQ(cause_of_dead(complaint + "srun: error: n8: task 22: Terminated\n" + kEndOfStep),
            "cancelled");
  EXPECT_EQ(cause_of_dead(complaint + exit + kPreemption), "preempted");
}

TEST(Attempts, EndForTheReasonThatTheSchedulerGivesBehindAnExitCode) {
  const std::string exit =
      "Thu Jun 30 17:55:21: Exited with exit code 130. The CPU time used is "
      "9.2 seconds;\n";
  const std::string reason =
      "Thu Jun 30 17:55:21: Completed <exit>; TERM_OWNER: job killed by owner;\n";
  EXPECT_EQ(cause_of_dead(exit), "interrupted");
  EXPECT_EQ(cause_of_dead(exit + reason), "cancelled");
}

}  // namespace
}  // namespace llmb::parser
