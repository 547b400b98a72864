// A daemon among files that are not its own, which are hostile or do not answer: those of jobs, the
// logs of runs, checkpoints. Everything else goes on, and it ends when it is told to.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <thread>

#include "server/cli/stop_deadline.h"
#include "server/http/bearer_token.h"
#include "storage/job_store.h"
#include "tests/hung_mount.h"
#include "tests/patience.h"
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
    command("llmb-step-runner", "echo 'llmb-step-runner 1.0'; echo 'backends: cpu'");
    configure(folder_ / "bin");
    storage::JobStore store({temporary_.file("jobs.db"), true});
    for (const int id : {41, 42}) store.insert(job(id));
    storage::TokenRecord token;
    token.name = "ci";
    token.sha256 = http::token_sha256(token_);
    token.scopes = {"submit"};
    token.created_at = "2026-01-01T00:00:00Z";
    token.expires_at = "2999-01-01T00:00:00Z";
    store.insert_token(token);
  }

  // With the runner in that folder.
  void configure(const fs::path& of_runner) const {
    temporary_.write("llmb.yaml", fmt::format("db: jobs.db\n"
                                              "roots: [other]\n"
                                              "cluster:\n"
                                              "  name: test\n"
                                              "  workload_folder: workload\n"
                                              "  backend: cpu\n"
                                              "  runner: {}/llmb-step-runner\n"
                                              "  command_path: {}:/usr/bin:/bin\n"
                                              "  poll_interval_s: 1\n"
                                              "  submitters: [ci]\n",
                                              of_runner.string(), (folder_ / "bin").string()));
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
  // Answered when the daemon answers: receive() waits for that.
  std::unique_ptr<Connection> post(DaemonProcess& daemon, const std::string& query,
                                   const std::string& load_checkpoint_path) const {
    const std::string body = fmt::format(
        R"({{"workload": "pretrain_nemotron4", "model_size": "15b", "dtype": "bf16", "scale": 8,)"
        R"( "gpu_type": "h100", "proxy": true, "load_checkpoint_path": "{}"}})",
        load_checkpoint_path);
    auto connection = std::make_unique<Connection>(daemon.port());
    connection->send(
        fmt::format("POST /api/v1/jobs{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    "Authorization: Bearer {}\r\nContent-Type: application/json\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    query, token_, body.size(), body));
    return connection;
  }
  // A log of five steps in the other root, and a daemon's first answer that has its run.
  void write_log() const {
    std::string lines;
    for (int i = 0; i < 5; ++i) {
      lines += fmt::format(
          "Training epoch 0, iteration {}/49 | lr: 3e-06 | global_batch_size: 512 | global_step: "
          "{} | reduced_train_loss: 11.2 | train_step_timing in s: 7.38\n",
          i, i);
    }
    temporary_.write("other/run.out", lines);
  }
  static bool has_read_it(DaemonProcess& daemon) {
    return wait_until([&] {
      const Answer runs = daemon.get("/api/v1/runs");
      return runs.status == 200 && runs.json()["runs"].size() == 1 &&
             runs.json()["runs"][0]["step_count"] == 5;
    });
  }
  std::vector<std::string> arguments() const {
    return {"--listen", "127.0.0.1:0", "--config", temporary_.file("llmb.yaml")};
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  const std::string token_ = http::new_token();
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

TEST_F(HostileFiles, InALogsPlaceAreNotRead) {
  write_log();
  const std::string log = temporary_.file("other/run.out");
  ASSERT_EQ(mkfifo(temporary_.file("other/llmb-config_41.yaml").c_str(), 0600), 0);
  temporary_.write("secret.txt", "secret\n");
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  ASSERT_TRUE(has_read_it(daemon)) << "beside a configuration that is a FIFO";
  EXPECT_EQ(daemon.get("/api/v1/runs/1/log").json()["lines"].size(), 5U);
  fs::remove(log);
  ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
  EXPECT_EQ(daemon.get("/api/v1/runs/1/log").status, 404);
  fs::remove(log);
  fs::create_symlink(temporary_.file("secret.txt"), log);
  const Answer linked = daemon.get("/api/v1/runs/1/log");
  EXPECT_EQ(linked.status, 404);
  EXPECT_THAT(linked.body, ::testing::Not(HasSubstr("secret")));
  fs::remove(log);
  fs::create_directory(log);
  EXPECT_EQ(daemon.get("/api/v1/runs/1/log").status, 404);
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(HostileFiles, ARootThatHangsHoldsUpNeitherJobsNorTheEnd) {
  write_log();
  fs::create_directories(run_folder(42));
  std::ofstream(run_folder(42) + "/sbatch_x_42.out") << "job exited with code 3\n";
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  ASSERT_TRUE(has_read_it(daemon));
  const HungMount mount(temporary_.file("other"));
  if (!mount.is_mounted()) GTEST_SKIP() << "this machine lets nobody mount FUSE";
  std::vector<std::unique_ptr<Connection>> askers;
  for (int i = 0; i < 8; ++i) {
    askers.push_back(std::make_unique<Connection>(daemon.port()));
    askers.back()->send("GET /api/v1/runs/1/log HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (const char* target : {"/healthz", "/api/v1/runs", "/api/v1/runs/1", "/api/v1/runs/1/steps",
                             "/api/v1/status", "/api/v1/jobs"}) {
    EXPECT_EQ(daemon.get(target).status, 200) << target;
  }
  for (const auto& asker : askers) {
    EXPECT_THAT(asker->receive("cannot reach"), StartsWith("HTTP/1.1 503"));
  }
  const Answer log = daemon.get("/api/v1/jobs/2/log?of=batch");
  EXPECT_EQ(log.status, 200) << "of another tree: " << log.body;
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(HostileFiles, ACheckpointOnAMountThatHangsHoldsUpItsOwnRequestOnly) {
  fs::create_directories(folder_ / "checkpoints");
  const HungMount mount(temporary_.file("checkpoints"));
  if (!mount.is_mounted()) GTEST_SKIP() << "this machine lets nobody mount FUSE";
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  const auto asker = post(daemon, "?dry_run=true", temporary_.file("checkpoints/iteration_50"));
  for (const char* target : {"/healthz", "/api/v1/jobs", "/api/v1/runs"}) {
    EXPECT_EQ(daemon.get(target).status, 200) << target;
  }
  EXPECT_THAT(asker->receive(), StartsWith("HTTP/1.1 200")) << "whose it is, is not known";
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(HostileFiles, ARunnerOnAMountThatHangsIsNotWaitedForOneByOne) {
  fs::create_directories(folder_ / "programs");
  const HungMount mount(temporary_.file("programs"));
  if (!mount.is_mounted()) GTEST_SKIP() << "this machine lets nobody mount FUSE";
  configure(folder_ / "programs");
  fs::create_directories(run_folder(42));
  std::ofstream(run_folder(42) + "/sbatch_x_42.out") << "job exited with code 3\n";
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  std::vector<std::unique_ptr<Connection>> askers;
  for (int i = 0; i < 8; ++i) askers.push_back(post(daemon, "?dry_run=true", ""));
  for (const char* target : {"/healthz", "/api/v1/jobs", "/api/v1/runs"}) {
    EXPECT_EQ(daemon.get(target).status, 200) << target;
  }
  // All threads for calls that wait are with the askers; it has to wait for the first of them.
  EXPECT_EQ(daemon.get("/api/v1/jobs/2/log?of=batch").status, 200);
  for (const auto& asker : askers) EXPECT_THAT(asker->receive(), StartsWith("HTTP/1.1 "));
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(HostileFiles, ASubmissionIntoAMountThatHangsIsRecordedAndRefused) {
  const HungMount mount(temporary_.file("workload"));
  if (!mount.is_mounted()) GTEST_SKIP() << "this machine lets nobody mount FUSE";
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  EXPECT_THAT(post(daemon, "", "")->receive(), StartsWith("HTTP/1.1 202"));
  EXPECT_TRUE(wait_until([&] {
    const Answer answer = daemon.get("/api/v1/jobs/3");
    return answer.status == 200 && answer.json()["state"] == "not_submitted" &&
           answer.json().dump().find("cannot reach") != std::string::npos;
  })) << daemon.get("/api/v1/jobs/3").body;
  EXPECT_EQ(daemon.get("/healthz").status, 200);
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST(StopDeadline, EndsAProcessThatDoesNotStop) {
  const auto hang = [] {
    const StopDeadline deadline(std::chrono::milliseconds(50), 7);
    std::this_thread::sleep_for(kTestPatience);
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(7), "");
  { const StopDeadline deadline(kTestPatience, 7); }  // stopped in time
}

}  // namespace
}  // namespace llmb::cli
