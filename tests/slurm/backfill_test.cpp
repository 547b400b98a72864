// `backfill --slurm` on the real nodes: an array job that pushes a tree to a real server, which
// goes away in the middle of it; one task is cancelled, the process of another killed, and the same
// command again does what is left.
#include <gmock/gmock.h>
#include <signal.h>

#include <sstream>

#include "tests/server/serve/backfill_fixture.h"
#include "tests/server/serve/cutting_proxy.h"
#include "tests/slurm/test_cluster.h"

namespace llmb::slurm_test {
namespace {

using testing::HasSubstr;

class BackfillOnSlurm : public cli::BackfillTest {
 protected:
  void SetUp() override {
    cluster_ = TestCluster::get("plain");
    if (cluster_ == nullptr) GTEST_SKIP() << "there is no Slurm here: see the test slurm.up";
  }

  CommandAnswer report(const Words& more) const {
    Words all = {LLMB_REPORT_PROGRAM, "backfill", "--work-folder", work_.path()};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, {"SLURM_CONF=" + (cluster_->cluster_folder() / "slurm.conf").string()});
  }
  Words submission(int port) const {
    Words all = words(port, {"--slurm", "--tasks", "4", "--slurm-arg", "cpus-per-task=1", tree_});
    all.erase(all.begin(), all.begin() + 2);  // the work folder
    return all;
  }
  backfill::TaskState state(int task) const {
    const auto state = work_.state(task);
    return state && *state ? **state : backfill::TaskState();
  }
  // "41" of "submitted: job 41, tasks 1-4".
  static std::string job_of(const CommandAnswer& answer) {
    const std::string before = "submitted: job ";
    const std::size_t at = answer.errors.find(before);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + before.size();
    return answer.errors.substr(begin, answer.errors.find(',', begin) - begin);
  }
  // The processes of a task's batch script, as Slurm has them.
  void kill_processes_of(const std::string& array_task) const {
    const std::string mark = "SLURM_ARRAY_TASK_ID=" + array_task;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream environment(entry.path() / "environ", std::ios::binary);
      std::stringstream text;
      text << environment.rdbuf();
      std::ifstream command(entry.path() / "cmdline", std::ios::binary);
      std::stringstream words;
      words << command.rdbuf();
      const bool is_it = text.str().find(mark + '\0') != std::string::npos &&
                         words.str().find(work_.path()) != std::string::npos;
      if (is_it) kill(static_cast<pid_t>(std::stol(entry.path().filename().string())), SIGKILL);
    }
  }

  const TestCluster* cluster_ = nullptr;
};

TEST_F(BackfillOnSlurm, DoesWhatIsLeftWhenTheSameIsSaidAgain) {
  cli::CuttingProxy proxy(port_);
  proxy.cut_after(4'000, [&] { server_->stop(SIGKILL); });
  const CommandAnswer first = report(submission(proxy.port()));
  ASSERT_EQ(first.exit_code, 0) << first.output << first.errors;
  const std::string job = job_of(first);
  ASSERT_NE(job, "") << first.errors;
  EXPECT_THAT(first.errors, HasSubstr("tasks 1-4"));
  const CommandAnswer too_soon = report(submission(proxy.port()));
  EXPECT_EQ(too_soon.exit_code, 0) << too_soon.errors;
  EXPECT_EQ(job_of(too_soon), "") << "all of them are under way";

  // None can be done: the server is gone, wherever that met them.
  ASSERT_TRUE(wait_until([&] {
    int pushing = 0;
    for (int task = 1; task <= 4; ++task) {
      pushing += state(task).phase == backfill::TaskPhase::pushing ? 1 : 0;
    }
    return proxy.has_cut() && pushing == 4;
  })) << report({"--status"}).output;
  EXPECT_EQ(cluster_->slurm({"scancel", job + "_1"}).exit_code, 0);
  kill_processes_of("3");
  std::string line;
  EXPECT_TRUE(wait_until([&] {
    line = report({"--status"}).output;
    return line.find("0 of 4 tasks done, 2 running") != std::string::npos &&
           line.find(", 2 failed") != std::string::npos;
  })) << line;
  EXPECT_THAT(line, HasSubstr("task 1: ended by signal 15; task 3: its process ended without"));

  start_server();
  const CommandAnswer again = report({"--slurm", "--slurm-arg", "cpus-per-task=1", "--wait"});
  EXPECT_EQ(again.exit_code, 0) << again.output << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("tasks 1,3\n"));
  EXPECT_THAT(again.output, HasSubstr("backfill: 4 of 4 tasks done, 40 of 40 logs\n"));
  expect_as_from_scratch();

  const auto revision = storage::Reader(central()).data_revision();
  push_whole_tree();
  EXPECT_EQ(job_of(report({"--slurm"})), "") << "nothing is left";
  EXPECT_EQ(storage::Reader(central()).data_revision(), revision) << "nothing was told anew";
}

TEST_F(BackfillOnSlurm, SaysWhatSlurmRefuses) {
  Words words = submission(port_);
  words.insert(words.end(), {"--slurm-arg", "partition=nosuch"});
  const CommandAnswer refused = report(words);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("`sinfo` lists the partitions"));
  EXPECT_THAT(report({"--status"}).output, HasSubstr("0 of 4 tasks done, 4 to do"));
}

}  // namespace
}  // namespace llmb::slurm_test
