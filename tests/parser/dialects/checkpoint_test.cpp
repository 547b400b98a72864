#include "parser/dialects/checkpoint.h"

#include <gtest/gtest.h>

#include "log_samples.h"

namespace llmb::parser {
namespace {

using Kind = CheckpointEvent::Kind;

std::vector<CheckpointEvent> checkpoints(const std::string& log) {
  return parse_log(log).facts.checkpoints;
}

TEST(Checkpoint, OfNemoHasRankIterationAndDuration) {
  const auto found = checkpoints(
      "  [NeMo I 2025-04-11 14:48:45 nemo_logging:393] Global Checkpoint Save : Rank: 3 : "
      "Iteration: 50 : Start time: 1744408121.151s : Save duration: 4.389s\n"
      "[NeMo I 2025-04-11 14:48:45 nemo_logging:393] Global Checkpoint Load : Rank : 0 : Start "
      "time : 1744408121.151s : Time spent in load_checkpoint: 51.25s\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, Kind::save);
  EXPECT_EQ(found[0].rank, 3);
  EXPECT_EQ(found[0].iteration, 50);
  EXPECT_EQ(found[0].duration_s, 4.389);
  EXPECT_EQ(found[1].kind, Kind::load);
  EXPECT_EQ(found[1].rank, 0);
  EXPECT_EQ(found[1].iteration, std::nullopt);
  EXPECT_EQ(found[1].duration_s, 51.25);
  EXPECT_GT(found[1].offset, 100U);
}

TEST(Checkpoint, OfMegatronBeginsAndFinishes) {
  const auto found = checkpoints(
      "saving checkpoint at iteration      50 to /ckpt in torch_dist format\n"
      "  successfully saved checkpoint from iteration      50 to /ckpt [ t 1/1, p 1/1 ]\n"
      "(min, max) time across ranks (ms):\n"
      "    save-checkpoint ................................: (24567.21, 24567.33)\n"
      " successfully loaded checkpoint from /ckpt [ t 1/1, p 1/1 ] at iteration 50\n"
      "    load-checkpoint ................................: (100.00, 2000.50)\n");
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].kind, Kind::save_begun);
  EXPECT_EQ(found[0].iteration, 50);
  EXPECT_EQ(found[1].kind, Kind::save_finished);
  EXPECT_EQ(found[2].kind, Kind::save);
  EXPECT_DOUBLE_EQ(*found[2].duration_s, 24.56733);
  EXPECT_EQ(found[3].kind, Kind::load);
  EXPECT_EQ(found[3].iteration, 50);
  EXPECT_DOUBLE_EQ(*found[4].duration_s, 2.0005);
}

// By the words of each program, one save.
TEST(Checkpoint, OfOtherProgramsIsRead) {
  struct Case {
    std::string line;
    Kind kind;
    std::optional<std::int64_t> iteration;
  };
  const std::vector<Case> cases = {
      {"[titan] 2026-03-04 00:45:30,500 - root - INFO - Saving the checkpoint (or staging if async "
       "is enabled).",
       Kind::save_begun, std::nullopt},
      {"[rank0]:2025-04-01 00:25:59,616 - root - INFO - Saving a full checkpoint at last step, "
       "step 644.",
       Kind::save_begun, 644},
      {"Started an asynchronous checkpoint save for step 30", Kind::save_begun, 30},
      {"INFO:absl:Saved a checkpoint at step 30.", Kind::save, 30},
      {"I0201 02:44:30.000121 133100 checkpointing.py:330] saved a checkpoint at step 30",
       Kind::save, 30},
      {"Saving model checkpoint to out/checkpoint-30", Kind::save_begun, 30},
      {"[INFO|trainer.py:3503] 2024-10-22 20:11:28,124 >> Saving model checkpoint to out",
       Kind::save_begun, std::nullopt},
      {"[2023-08-02 00:41:17,939] [INFO] [logging.py:96:log_dist] [Rank 0] Saving model "
       "checkpoint: x.2023.8.1/global_step10/mp_rank_00_model_states.pt",
       Kind::save_begun, 10},
      {"[2023-08-15 07:22:31,774] [INFO] [torch_checkpoint_engine.py:21:save] [Torch] Saving "
       "./tmp/global_step2500/layer_14-model_01-model_states.pt...",
       Kind::save_begun, 2500},
      {"11/01/2024 14:27:48 [INFO|DP=0|PP=0|TP=0|lrdn0434]: Saving checkpoint at "
       "/scratch/ckpt/17500",
       Kind::save_begun, 17500},
      {"Saving checkpoint to /x/epoch_0_step_30", Kind::save_begun, 30},
      {"Saving checkpoint for step 30...", Kind::save_begun, 30},
  };
  for (const Case& one : cases) {
    // By two processes.
    const auto found = checkpoints(one.line + "\n" + one.line + "\n");
    ASSERT_EQ(found.size(), 1U) << one.line;
    EXPECT_EQ(found[0].kind, one.kind) << one.line;
    EXPECT_EQ(found[0].iteration, one.iteration) << one.line;
  }
}

TEST(Checkpoint, OfTorchtitanHasTheDurationOfItsSlowestRank) {
  const auto found = checkpoints(
      "root - INFO - Finished saving the checkpoint (or staging if async is enabled) in 1.23 "
      "seconds.\n"
      "root - INFO - Finished saving the checkpoint (or staging if async is enabled)in 5.53 "
      "seconds.\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::save);
  EXPECT_EQ(found[0].duration_s, 5.53);
}

// Another process of the attempt says so after the next step; another attempt saves it again.
TEST(Checkpoint, OfOneAttemptIsOneWhereAnotherProcessIsLate) {
  const auto step = [](int iteration) {
    return "completed step: " + std::to_string(iteration) + ", seconds: 5.1, loss: 11.3\n";
  };
  const std::string save = "Started an asynchronous checkpoint save for step 3\n";
  EXPECT_EQ(checkpoints(step(2) + save + step(3) + save + step(4)).size(), 1U);
  EXPECT_EQ(checkpoints(step(2) + save + step(3) + step(1) + step(2) + save).size(), 2U);
}

// Of a run that goes on from another one's checkpoint.
TEST(Checkpoint, IsNumberedByTheLastOfItsPathsNames) {
  const auto found = checkpoints(
      "Saving model checkpoint to sft/global_step500/checkpoint-10\n"
      "Saving model checkpoint to sft/global_step500/checkpoint-20\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].iteration, 10);
  EXPECT_EQ(found[1].iteration, 20);
}

TEST(Checkpoint, IsNotSeenInBrokenLines) {
  for (const char* line :
       {"Global Checkpoint Save : Rank: 0 : Iteration: 5", "save-checkpoint ....: (x, 3)",
        "saving checkpoint at iteration many", "Global Checkpoint Load : Rank : 0",
        "Scheduled async checkpoint save for /ckpt/step=24.ckpt"}) {
    EXPECT_TRUE(checkpoints(std::string(line) + "\n").empty()) << line;
  }
}

TEST(Checkpoint, ListsKeepTheFirstAndTheNewest) {
  std::string log;
  for (int i = 0; i < 1000; ++i) {
    log += "saving checkpoint at iteration " + std::to_string(i) + " to /ckpt in zarr format\n";
  }
  const LogFacts facts = parse_log(log).facts;
  EXPECT_EQ(facts.checkpoint_count, 1000);
  ASSERT_EQ(facts.checkpoints.size(), kCheckpointsMax);
  EXPECT_EQ(facts.checkpoints.front().iteration, 0);
  EXPECT_EQ(facts.checkpoints.back().iteration, 999);
}

TEST(Checkpoint, OfRealLogsIsRead) {
  if (shared_logs().empty()) GTEST_SKIP() << "the shared collection of logs is not here";
  const auto llama =
      checkpoints(read_file(shared_logs() / "checkpoint/dgxc-v25.04-llama3.1-README-329.log"));
  ASSERT_EQ(llama.size(), 1U);
  EXPECT_EQ(llama[0].iteration, 50);
  EXPECT_EQ(llama[0].duration_s, 4.389);
  // Two saves of NeMo 2 (begun with a duration, finished) and two of NeMo 1 (begun, finished): what
  // one save says twice in other words is one event.
  const auto both =
      checkpoints(read_file(shared_logs() / "checkpoint/gpu-recipes-fixture-nemo2-nemo1.log"));
  ASSERT_EQ(both.size(), 8U);
  EXPECT_EQ(both[0].kind, Kind::save);
  EXPECT_EQ(both[0].duration_s, 25.537);
  EXPECT_EQ(both[1].kind, Kind::save_finished);
  EXPECT_EQ(both[1].iteration, 24);
  EXPECT_EQ(both[2].duration_s, 5.33);
  EXPECT_EQ(both[4].kind, Kind::save_begun);
  EXPECT_EQ(both[4].iteration, 100);
  EXPECT_EQ(both[5].kind, Kind::save_finished);
  EXPECT_EQ(both[7].iteration, 200);
}

}  // namespace
}  // namespace llmb::parser
