#include "server/backfill/progress.h"

#include <gmock/gmock.h>

namespace llmb::backfill {
namespace {

TaskState state(TaskPhase phase, const std::string& message = "") {
  return {phase, 900, 120, message, "node1", "41_7", 1'700'000'000};
}

TaskSigns queued(const std::string& slurm_state) {
  TaskSigns signs;
  signs.slurm_state = slurm_state;
  return signs;
}

Standing standing_of(const std::optional<TaskState>& said, const TaskSigns& signs) {
  return progress_of(said, signs, 1'000).standing;
}

TEST(TaskProgress, IsWhatTheTaskSaysWhileAProcessIsAtIt) {
  TaskSigns locked;
  locked.is_locked = true;
  EXPECT_EQ(standing_of(std::nullopt, {}), Standing::to_do);
  EXPECT_EQ(standing_of(std::nullopt, queued("PENDING")), Standing::waiting);
  EXPECT_EQ(standing_of(std::nullopt, queued("RUNNING")), Standing::running);
  EXPECT_EQ(standing_of(state(TaskPhase::reading), locked), Standing::running);
  EXPECT_EQ(standing_of(state(TaskPhase::pushing), queued("RUNNING")), Standing::running);
  EXPECT_EQ(progress_of(state(TaskPhase::pushing, "refused"), locked, 1'000).message, "refused");
  EXPECT_EQ(progress_of(state(TaskPhase::failed, "before"), locked, 1'000).message, "")
      << "of the last time";
  EXPECT_EQ(standing_of(state(TaskPhase::pushing), queued("PENDING")), Standing::waiting)
      << "requeued";
  EXPECT_EQ(standing_of(state(TaskPhase::failed), queued("PENDING")), Standing::waiting);
  EXPECT_EQ(standing_of(state(TaskPhase::failed), queued("COMPLETING")), Standing::failed);
  EXPECT_EQ(standing_of(state(TaskPhase::done), queued("RUNNING")), Standing::done);
}

TEST(TaskProgress, OfAProcessThatIsGoneIsFailedWithItsLastWords) {
  TaskSigns gone;
  gone.last_words = "slurmstepd: error: killed";
  const TaskProgress task = progress_of(state(TaskPhase::pushing), gone, 1'000);
  EXPECT_EQ(task.standing, Standing::failed);
  EXPECT_EQ(task.message,
            "its process ended without a word; its output ends with: slurmstepd: error: killed");
  EXPECT_EQ(task.logs, 900) << "as found";
  EXPECT_EQ(task.logs_told, 120);
  EXPECT_EQ(progress_of(state(TaskPhase::reading), gone, 1'000).logs, 1'000);

  gone.is_seen_from_here = false;  // another machine may hold its lock
  gone.now_s = 1'700'000'060;
  EXPECT_EQ(standing_of(state(TaskPhase::pushing), gone), Standing::running);
  gone.now_s = 1'700'000'600;
  EXPECT_EQ(standing_of(state(TaskPhase::pushing), gone), Standing::failed);
}

TEST(ProgressLine, SaysAllTasksInOneLine) {
  std::vector<TaskProgress> tasks(32, {Standing::done, 700, 700, ""});
  EXPECT_EQ(progress_line(tasks), "backfill: 32 of 32 tasks done, 22,400 of 22,400 logs");
  EXPECT_TRUE(all_done(tasks));
  tasks[0] = {Standing::running, 650, 100, ""};
  tasks[1] = {Standing::waiting, 650, 0, ""};
  tasks[2] = {Standing::to_do, 650, 0, ""};
  tasks[6] = {Standing::failed, 650, 20, "the disk\nis full"};
  EXPECT_EQ(progress_line(tasks),
            "backfill: 28 of 32 tasks done, 1 running, 1 waiting, 1 to do, 1 failed (task 7: the "
            "disk\\x0ais full), 19,720 of 22,200 logs");
  tasks[0].message = "no answer";
  EXPECT_THAT(progress_line(tasks),
              testing::HasSubstr(" 1 running (task 1: no answer), 1 waiting"));
  EXPECT_EQ(tasks_to_begin(tasks), (std::vector<std::int64_t>{3, 7}));
  EXPECT_TRUE(any_under_way(tasks));
  for (std::size_t i = 10; i < 14; ++i) tasks[i] = {Standing::failed, 0, 0, "x"};
  EXPECT_THAT(
      progress_line(tasks),
      testing::HasSubstr("5 failed (task 7: the disk\\x0ais full; task 11: x; task 12: x; …)"));
}

}  // namespace
}  // namespace llmb::backfill
