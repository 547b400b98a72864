// Which lines of scripts, supervisors and shells begin an attempt: a failure above such a line is
// of the attempt before.
#include <gtest/gtest.h>

#include "log_samples.h"
#include "parser/reader/log_reader.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

std::string cause_between(const std::string& line) {
  const ParsedLog log = parse_log(
      "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB.\n" + line +
      "OSError: [Errno 28] No space left on device\n");
  return summarize_run(log.samples, log.facts, {11, 44}, false).failure_cause;
}

TEST(AttemptBanners, BeginAnAttempt) {
  for (const char* const banner :
       {"==== attempt 2 of 3 (2025-09-17T06:41:55Z) ====\n",
        "---> attempt 1 2025-06-11T20:57:02 (local sqsh)\n",
        "### attempt #2 on n[1-4] ###\n",
        "### attempt 2 of 3 on bloom-n1 ###\n",
        "==== attempt 2 (room3, 4 nodes) ====\n",
        "supervisor: run #2 of 4\n",
        "--- try 2 ---\n",
        "go.sh: attempt 2\n",
        "[try 2] 2025-08-05 torchrun --nnodes=1 -m train\n",
        "::: attempt a2 :: 2025-01-15T22:43:30Z :: node n14 :::\n",
        "#### submit 2 (weights fixed, more loader cpus) ####\n",
        "attempt=1 t=2025-10-01T20:40:11 (micro batch 1)\n",
        "[attempt 2] Wed 08 Jan 2025 21:03:40 launching composer on n1 n2\n",
        "[ctl] 2025-11-19T00:25:02Z generation 8: 63 nodes, elastic shrink allowed\n",
        "[jobset] attempt 0: child job job-2 failed: node n31 preempted; restarting all "
        "(restartAttempt 1)\n",
        "root@pod-7f21a:/workspace# CUDA_VISIBLE_DEVICES=0 axolotl train chat.yml\n",
        "(venv) me@n1:~/run$ torchrun --nproc-per-node 8 pretrain.py\n",
        "[me@n1 run]$ nohup python train.py --lr 1e-4\n",
        "[n1] $ NCCL_DEBUG=WARN torchrun --nnodes 2 -m axolotl.cli.train chat.yml\n",
        "[try 2/3] 2025-11-01 08:01:45 pull the mirror\n"}) {
    EXPECT_EQ(cause_between(banner), "disk_full_or_quota") << banner;
    EXPECT_TRUE(parse_log(banner).facts.events.empty()) << banner;
  }
}

TEST(AttemptBanners, AreNotOtherLinesWithTheirWords) {
  for (const char* const other : {"==> attempt 2 failed (exit 1)\n",
                                  "attempt 2 of 3\n",
                                  "fetch: attempt 2\n",
                                  "--- try 3 skipped: twice the same ---\n",
                                  "--- 2 nodes left ---\n",
                                  "::: attempt a2 rc=1 :::\n",
                                  "attempt=1 rc=1; attempts exhausted\n",
                                  "[ctl] generation 7 ended: n39 GPU 7 NVLink fatal\n",
                                  "generation 7: 63 nodes\n",
                                  "controller: generation 3: 2 workers failed, draining\n",
                                  "attempt=2 backoff=4s url=https://huggingface.co/api/telemetry\n",
                                  "[attempt 1] launching crash reporter\n",
                                  "-- launch 8 core dump writers\n",
                                  "## submit 2: core dumps to s3 ##\n",
                                  "=== launch h100 workers ===\n",
                                  "me@n1:~/exp$ tail -50 train.py\n",
                                  "me@n1:~/exp$ pip install deepspeed accelerate\n",
                                  "[try 1/2] 2025-11-01 08:01:12 pull it\n",
                                  "[try 2/2] 2025-11-01 08:02:41 rc=1\n",
                                  "[try 2/2] 2025-11-01 08:02:41 FAILED\n",
                                  "[try 2/2] 2025-11-01 08:02:41 killing the other ranks\n",
                                  "### attempt 2 Failed ###\n",
                                  "[n1] $ sed -i s/2/1/ train.py\n",
                                  "  torchrun --nproc-per-node 8\n",
                                  "run 2 died: Command '['torchrun', '--nnodes=1']'\n"}) {
    EXPECT_EQ(cause_between(other), "cuda_oom") << other;
  }
}

}  // namespace
}  // namespace llmb::parser
