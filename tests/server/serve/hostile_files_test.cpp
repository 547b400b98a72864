// A daemon whose jobs' files are hostile or do not answer: everything else goes on, and it ends
// when it is told to.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <thread>

#include "server/cli/stop_deadline.h"
#include "storage/job_store.h"
#include "tests/hung_mount.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Two jobs that left the queue, of which only their own files can tell more.
class HostileFiles : public ::testing::Test {
 protected:
  HostileFiles() {
    fs::create_directories(folder_ / "workload");
    fs::create_directories(folder_ / "other");
    command("squeue", R"(echo '{"jobs": [], "errors": []}')");
    command("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
    temporary_.write("llmb.yaml", fmt::format("db: jobs.db\n"
                                              "roots: [other]\n"
                                              "cluster:\n"
                                              "  name: test\n"
                                              "  workload_folder: workload\n"
                                              "  backend: cpu\n"
                                              "  command_path: {}:/usr/bin:/bin\n"
                                              "  poll_interval_s: 1\n",
                                              (folder_ / "bin").string()));
    storage::JobStore store({temporary_.file("jobs.db"), true});
    for (const int id : {41, 42}) store.insert(job(id));
  }

  void command(const std::string& name, const std::string& line) const {
    const fs::path file = temporary_.write("bin/" + name, "#!/bin/sh\n" + line + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  std::string run_folder(int id) const {
    return temporary_.file(fmt::format("workload/experiments/x/x_{}/x", id));
  }
  storage::JobRecord job(int id) const {
    storage::JobRecord job;
    job.submission_id = fmt::format("mark{}", id);
    job.cluster = "test";
    job.job_id = id;
    job.submit_time_s = 1'000;
    job.state = storage::JobState::running;
    job.experiment = "x";
    job.launch_id = fmt::format("x_{}", id);
    job.run_folder = run_folder(id);
    job.submission = "{}";
    job.submitted_by = "ci";
    job.created_at = job.updated_at = "2026-01-01T00:00:00Z";
    return job;
  }
  std::vector<std::string> arguments() const {
    return {"--listen", "127.0.0.1:0", "--config", temporary_.file("llmb.yaml")};
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(HostileFiles, AFifoInTheOutputsPlaceHoldsUpNobody) {
  fs::create_directories(run_folder(41));
  fs::create_directories(run_folder(42));
  ASSERT_EQ(mkfifo((run_folder(41) + "/sbatch_x_41.out").c_str(), 0600), 0);
  std::ofstream(run_folder(42) + "/sbatch_x_42.out") << "job exited with code 3\n";
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  EXPECT_TRUE(wait_until([&] {
    const Answer answer = daemon.get("/api/v1/jobs/2");
    return answer.status == 200 && answer.json()["state"] == "failed";
  })) << "the one after it is read";
  const Answer log = daemon.get("/api/v1/jobs/1/log?of=batch");
  EXPECT_EQ(log.status, 503);
  EXPECT_THAT(log.body, HasSubstr("no regular file"));
  EXPECT_EQ(daemon.get("/api/v1/jobs/1").json()["state"], "running");
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(HostileFiles, AMountThatHangsHoldsUpNobody) {
  const HungMount mount(temporary_.file("workload"));
  if (!mount.is_mounted()) GTEST_SKIP() << "this machine lets nobody mount FUSE";
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  std::vector<std::unique_ptr<Connection>> askers;
  for (int i = 0; i < 8; ++i) {
    askers.push_back(std::make_unique<Connection>(daemon.port()));
    askers.back()->send("GET /api/v1/jobs/1/log HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (const char* target : {"/healthz", "/api/v1/jobs", "/api/v1/runs", "/api/v1/status"}) {
    EXPECT_EQ(daemon.get(target).status, 200) << target;
  }
  for (const auto& asker : askers) {
    const std::string answer = asker->receive("cannot reach");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(answer, HasSubstr("cannot reach"));
  }
  EXPECT_EQ(daemon.get("/api/v1/jobs/1").json()["state"], "running");
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST(StopDeadline, EndsAProcessThatDoesNotStop) {
  const auto hang = [] {
    const StopDeadline deadline(std::chrono::milliseconds(50), 7);
    std::this_thread::sleep_for(kPatience);
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(7), "");
  { const StopDeadline deadline(kPatience, 7); }  // stopped in time
}

}  // namespace
}  // namespace llmb::cli
