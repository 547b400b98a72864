// A daemon that removes runs by its configuration's retention policies, beside all else it does.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <random>

#include "storage/database.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/storage/temporary_database.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class RetentionOfADaemon : public testing::Test {
 protected:
  RetentionOfADaemon() {
    write_log("tree/old/log_1.out", nemo_lines(50), 500);
    write_log("tree/young/log_2.out", nemo_lines(20), 3);
    folder_.write("serve.yaml",
                  "roots: [tree]\nlisten: 127.0.0.1:0\ndb: runs.db\n"
                  "allow_network_file_system: true\nretention:\n- {older_than: 400d}\n");
  }
  static std::string nemo_lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "Training epoch 0, iteration " + std::to_string(i) +
              "/49 | lr: 4.995e-06 | global_batch_size: 2048 | global_step: " + std::to_string(i) +
              " | reduced_train_loss: 11.03 | train_step_timing in s: 7.5\n";
    }
    return text;
  }
  void write_log(const std::string& path, const std::string& text, int days_ago) {
    folder_.write(path, text);
    fs::last_write_time(folder_.file(path),
                        fs::file_time_type::clock::now() - std::chrono::hours(24 * days_ago));
  }
  static nlohmann::json retention(DaemonProcess& daemon) {
    return daemon.get("/api/v1/status").json()["retention"];
  }
  static bool has_passed(DaemonProcess& daemon) {
    return wait_until([&] { return retention(daemon)["passed_at"].is_string(); });
  }
  // Of a tree that is not watched, so that nothing is said of their logs.
  void write_old_runs(int count) {
    storage::Writer writer({folder_.file("runs.db"), true});
    const storage::RootId root = writer.upsert_root("/away", "eos");
    std::vector<storage::IngestBatch> batches;
    for (int i = 0; i < count; ++i) {
      batches.push_back(storage::make_batch(root, fmt::format("log_{}", old_runs_++), 20));
      batches.back().observed_at = "2024-01-02T03:04:05Z";
    }
    writer.commit(batches);
  }
  std::int64_t count() const { return storage::Reader(folder_.file("runs.db")).run_count({}); }

  const TemporaryFolder folder_;
  int old_runs_ = 0;
};

TEST_F(RetentionOfADaemon, RemovesAndSaysSo) {
  DaemonProcess daemon(folder_.path(), {"--config", folder_.file("serve.yaml")});
  ASSERT_TRUE(has_passed(daemon)) << daemon.errors();
  const nlohmann::json said = retention(daemon);
  EXPECT_EQ(said["runs_removed"], 1);
  EXPECT_EQ(said["steps_removed"], 50);
  EXPECT_EQ(said["error"], nullptr);
  const nlohmann::json runs = daemon.get("/api/v1/runs").json()["runs"];
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["relative_path"], "young/log_2.out");
  EXPECT_THAT(daemon.get("/metrics").body, HasSubstr("llmb_removed_runs_total 1\n"));
  EXPECT_THAT(daemon.errors(),
              HasSubstr("retention (older than 400d): removed 1 runs with 50 steps"));
  // It grows, and is there again.
  fs::resize_file(folder_.file("tree/old/log_1.out"), 0);
  folder_.write("tree/old/log_1.out", nemo_lines(50) + "one more line\n");
  EXPECT_TRUE(wait_until([&] { return count() == 2; }));
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(RetentionOfADaemon, IsNotUndoneByAnotherStart) {
  for (int i = 0; i < 2; ++i) {
    DaemonProcess daemon(folder_.path(), {"--config", folder_.file("serve.yaml")});
    ASSERT_TRUE(has_passed(daemon)) << daemon.errors();
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(retention(daemon)["runs_removed"], i == 0 ? 1 : 0);
    EXPECT_EQ(daemon.stop(SIGTERM), 0);
  }
}

// Thousands of runs, killed at any instant: what is there is there as a whole, and it ends.
TEST_F(RetentionOfADaemon, GoesOnAfterItWasKilled) {
  constexpr int kRuns = 3'000;
  write_old_runs(kRuns);
  std::mt19937 random(4);  // NOLINT: a failure must come again
  bool was_between = false;
  for (int kills = 0; kills < 6 || (!was_between && kills < 60); ++kills) {
    if (count() <= 1) write_old_runs(kRuns);  // the last kill was too late
    DaemonProcess daemon(folder_.path(), {"--config", folder_.file("serve.yaml")});
    ASSERT_NE(daemon.port(), 0) << daemon.errors();
    const std::int64_t wanted = kRuns - static_cast<std::int64_t>(random() % kRuns);
    wait_until([&] { return count() <= wanted; });
    daemon.stop(SIGKILL);
    storage::Reader reader(folder_.file("runs.db"));
    const std::int64_t left = reader.run_count({});
    was_between |= left > 1 && left < kRuns;
    for (const storage::RunRecord& run : reader.runs({}).runs) {
      EXPECT_EQ(reader.steps(run.id).size(), static_cast<std::size_t>(run.step_count));
    }
  }
  EXPECT_TRUE(was_between);
  DaemonProcess daemon(folder_.path(), {"--config", folder_.file("serve.yaml")});
  ASSERT_TRUE(has_passed(daemon)) << daemon.errors();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(storage::Reader(folder_.file("runs.db")).removal_total().count.runs, old_runs_ + 1);
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(RetentionOfADaemon, IsToldToBrowsers) {
  write_old_runs(3'000);
  DaemonProcess daemon(folder_.path(), {"--config", folder_.file("serve.yaml")});
  Connection events(daemon.port());
  events.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(events.receive("event: reset"), HasSubstr("event: reset"));
  EXPECT_EQ(daemon.stop(SIGTERM), 0) << "and it stops in the middle";
}

TEST_F(RetentionOfADaemon, IsNotOfAServerThatOnlyReads) {
  DaemonProcess reader(folder_.path(), {"--read-only", "--config", folder_.file("serve.yaml")});
  EXPECT_EQ(reader.exit_code(), 2);
  EXPECT_THAT(reader.errors(), HasSubstr("cluster and retention here"));
}

}  // namespace
}  // namespace llmb::cli
