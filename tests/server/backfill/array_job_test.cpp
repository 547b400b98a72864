#include "server/backfill/array_job.h"

#include <gmock/gmock.h>

#include "server/dispatch/queue_snapshot.h"

namespace llmb::backfill {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Manifest manifest() {
  Manifest manifest;
  manifest.id = "llmb-77";
  manifest.tasks.resize(9);
  return manifest;
}

TEST(ArrayJob, NamesTheTasksThatAreLeft) {
  EXPECT_EQ(ranges_of({}), "");
  EXPECT_EQ(ranges_of({4}), "4");
  EXPECT_EQ(ranges_of({1, 2, 3, 7, 9, 10}), "1-3,7,9-10");
  const WorkFolder work("/lustre/me/backfill");
  const auto words = array_arguments(work, manifest(), {3, 7, 8, 9}, 2, {});
  EXPECT_THAT(words, Contains("--array=3,7-9%2"));
  EXPECT_THAT(words, Contains("--comment=llmb-77"));
  EXPECT_THAT(words, Contains("--output=/lustre/me/backfill/tasks/%a.out"));
  EXPECT_THAT(words, Contains("--cpus-per-task=2"));
  EXPECT_THAT(words, Contains("--requeue"));
  EXPECT_EQ(words.back(), "/lustre/me/backfill/array.sh");
  EXPECT_THAT(array_arguments(work, manifest(), {3}, 0, {}), Contains("--array=3"));
}

TEST(ArrayJob, TakesWhatTheUserSaysInstead) {
  const auto words = array_arguments(WorkFolder("/w"), manifest(), {1}, 0,
                                     {{"cpus-per-task", "8"}, {"no-requeue", ""}});
  EXPECT_THAT(words, Contains("--cpus-per-task=8"));
  EXPECT_THAT(words, Not(Contains("--cpus-per-task=2")));
  EXPECT_THAT(words, Not(Contains("--requeue")));
}

TEST(ArrayJob, StartsOneTaskByItsNumber) {
  EXPECT_THAT(array_script(WorkFolder("/w'"), manifest(), "/opt/a b/llmb-report"),
              HasSubstr("\nexec '/opt/a b/llmb-report' backfill --work-folder '/w'\\''' --task "
                        "\"${SLURM_ARRAY_TASK_ID:?"));
}

TEST(ArrayTasks, AreThoseOfTheComment) {
  const auto tasks = dispatch::parse_array_tasks(
      "41_7|RUNNING|llmb-77\n"
      "41_8|PENDING|llmb-77\n"
      "42_8|PENDING|llmb-77|8\n"
      "43|PENDING|llmb-77\n"
      "x_1|PENDING|llmb-77\n"
      "44_2|RUNNING|a comment|llmb-77\n"
      "45\n\n",
      "llmb-77");
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].job_id, 41);
  EXPECT_EQ(tasks[0].task, 7);
  EXPECT_EQ(tasks[0].slurm_state, "RUNNING");
  EXPECT_EQ(tasks[1].task, 8);
}

}  // namespace
}  // namespace llmb::backfill
