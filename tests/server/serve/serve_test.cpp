// llmb-report serve as a user meets it: a process, files, sockets, signals.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "tests/server/serve/daemon_process.h"
#include "tests/server/serve/growing_tree.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;

class Serve : public ::testing::Test {
 protected:
  std::vector<std::string> arguments(std::vector<std::string> further = {}) const {
    std::vector<std::string> all = {"--listen", "127.0.0.1:0", "--db", database_};
    if (further.empty()) further.push_back(tree_.root().string());
    all.insert(all.end(), further.begin(), further.end());
    return all;
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
  const GrowingTree tree_{folder_ / "workload"};
  const std::string database_ = temporary_.file("test.db");
};

TEST_F(Serve, ShowsALogThatGrows) {
  tree_.append_steps(0, 20);
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  ASSERT_TRUE(waits_for_steps(daemon, 21)) << daemon.errors();
  const Connection events(daemon.port());
  events.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(events.receive("\r\n\r\n").find("text/event-stream"), std::string::npos);
  tree_.append_steps(21, 49);
  EXPECT_NE(events.receive("event: run").find("event: run"), std::string::npos);
  ASSERT_TRUE(waits_for_steps(daemon, 50));
  const auto run = daemon.get("/api/v1/runs").json()["runs"][0];
  EXPECT_EQ(run["status"], "complete");
  EXPECT_EQ(run["step_time_s_mean"], 7.5);
  EXPECT_EQ(run["gpu_count"], 128);
  EXPECT_EQ(run["job_id"], 123);
  const std::string path = "/api/v1/runs/" + run["id"].dump();
  EXPECT_EQ(daemon.get(path + "/steps").json()["tflops_per_gpu"].size(), 50U);
  EXPECT_EQ(daemon.get(path + "/statistics?window=35-44").json()["step_time_s"]["count"], 10);
  EXPECT_EQ(daemon.stop(SIGTERM), 0) << "with a stream open";
}

TEST_F(Serve, ReadsNothingAgainAfterARestart) {
  tree_.append_steps(0, 49);
  std::string before;
  {
    DaemonProcess daemon(folder_, arguments());
    ASSERT_TRUE(waits_for_steps(daemon, 50)) << daemon.errors();
    before = daemon.get("/api/v1/runs").body;
    EXPECT_EQ(daemon.stop(SIGINT), 0);
  }
  DaemonProcess daemon(folder_, arguments());
  ASSERT_TRUE(wait_until([&] { return daemon.get("/readyz").status == 200; })) << daemon.errors();
  EXPECT_EQ(daemon.get("/api/v1/status").json()["bytes_read"], 0);
  EXPECT_EQ(daemon.get("/api/v1/runs").body, before);
}

TEST_F(Serve, AnswersConditionsAndTheDashboardsAddresses) {
  tree_.append_steps(0, 49);
  DaemonProcess daemon(folder_, arguments());
  ASSERT_TRUE(waits_for_steps(daemon, 50)) << daemon.errors();
  const Answer first = daemon.get("/api/v1/runs/1/steps");
  ASSERT_EQ(first.status, 200);
  const Answer again =
      daemon.get("/api/v1/runs/1/steps", "If-None-Match: " + first.header("ETag") + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.header("ETag"), first.header("ETag"));
  const Answer page = daemon.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.body.find("<!doctype html>"), std::string::npos);
  EXPECT_EQ(daemon.get("/runs/1").body, page.body);
  EXPECT_EQ(daemon.get("/api/v1/nothing").status, 404);
  EXPECT_EQ(daemon.get("/api/v1/runs?limit=9999").status, 400);
  EXPECT_EQ(daemon.get("/healthz").status, 200);
  EXPECT_EQ(daemon.get("/metrics").body.substr(0, 2), "# ");
}

TEST_F(Serve, RefusesADatabaseThatAnotherDaemonWrites) {
  tree_.append_steps(0, 3);
  DaemonProcess first(folder_, arguments());
  ASSERT_NE(first.port(), 0) << first.errors();
  DaemonProcess second(folder_, arguments());
  EXPECT_EQ(second.exit_code(), 1);
  EXPECT_NE(second.errors().find("is already writing to it"), std::string::npos) << second.errors();
  EXPECT_TRUE(waits_for_steps(first, 4)) << "the first goes on";
}

TEST_F(Serve, RefusesAPortInUseAndAnOpenAddress) {
  tree_.append_steps(0, 3);
  DaemonProcess first(folder_, arguments());
  const std::string port = std::to_string(first.port());
  DaemonProcess second(
      folder_, {"--listen", port, "--db", (folder_ / "other.db").string(), tree_.root().string()});
  EXPECT_EQ(second.exit_code(), 1);
  EXPECT_NE(second.errors().find("127.0.0.1:" + port), std::string::npos) << second.errors();
  EXPECT_NE(second.errors().find("choose another port"), std::string::npos) << second.errors();
  DaemonProcess open(folder_, {"--listen", "0.0.0.0:0", "--db", (folder_ / "third.db").string(),
                               tree_.root().string()});
  EXPECT_EQ(open.exit_code(), 1);
  EXPECT_NE(open.errors().find("behind-proxy"), std::string::npos) << open.errors();
}

TEST_F(Serve, RefusesACorruptDatabaseAndSaysWhatToDo) {
  tree_.append_steps(0, 3);
  write("test.db", std::string(16'384, 'x'));
  DaemonProcess daemon(folder_, arguments());
  EXPECT_EQ(daemon.exit_code(), 1);
  EXPECT_NE(daemon.errors().find(database_), std::string::npos) << daemon.errors();
  EXPECT_NE(daemon.errors().find("Move it away"), std::string::npos) << daemon.errors();
  EXPECT_EQ(fs::file_size(database_), 16'384U) << "and leaves it as it was";
}

TEST_F(Serve, RefusesADatabaseWhoseFolderIsMissing) {
  tree_.append_steps(0, 3);
  DaemonProcess daemon(
      folder_, {"--listen", "127.0.0.1:0", "--db", "/nowhere/at/all.db", tree_.root().string()});
  EXPECT_EQ(daemon.exit_code(), 1);
  EXPECT_NE(daemon.errors().find("/nowhere/at"), std::string::npos) << daemon.errors();
}

TEST_F(Serve, GoesOnWithoutARootUntilItIsThere) {
  DaemonProcess daemon(folder_, arguments());
  ASSERT_NE(daemon.port(), 0) << daemon.errors();
  EXPECT_NE(daemon.errors().find(tree_.root().string() + " is not a folder"), std::string::npos);
  ASSERT_TRUE(wait_until([&] {
    const Answer answer = daemon.get("/readyz");
    return answer.status == 503 && answer.body.find("\"root_error\"") != std::string::npos;
  }));
  tree_.append_steps(0, 9);
  EXPECT_TRUE(waits_for_steps(daemon, 10)) << daemon.errors();
  EXPECT_TRUE(wait_until([&] { return daemon.get("/readyz").status == 200; }));
}

TEST_F(Serve, SurvivesGarbage) {
  tree_.append_steps(0, 3);
  DaemonProcess daemon(folder_, arguments());
  ASSERT_TRUE(waits_for_steps(daemon, 4)) << daemon.errors();
  const std::vector<std::string> garbage = {
      std::string("\0\xff\x16\x03\x01 not http\r\n\r\n", 18),
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /api/v1/runs/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n",
      "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"};
  for (const std::string& bytes : garbage) {
    const Connection connection(daemon.port());
    connection.send(bytes);
    const std::string answer = connection.receive("\r\n\r\n");
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 4") ||
                answer.starts_with("HTTP/1.1 5"))
        << answer;
    EXPECT_EQ(answer.find("root:"), std::string::npos);
  }
  EXPECT_EQ(daemon.get("/healthz").status, 200);
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(Serve, RefusesBadArgumentsWithTheReason) {
  write("bad.yaml", "listen: 127.0.0.1:0\nlimits:\n  http_thread: 3\n");
  const std::string file = (folder_ / "bad.yaml").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--db", database_}, "LLMB_WORKLOAD"},
      {{"--db", database_, "--listen", "nowhere:port", tree_.root().string()}, "ADDRESS:PORT"},
      {{"--config", file, tree_.root().string()}, file + ":3: unknown key 'http_thread'"},
      {{"--config", "/no/such.yaml", tree_.root().string()}, "/no/such.yaml"},
      {{"--lissten", "x"}, "lissten"}};
  for (const auto& [arguments, reason] : cases) {
    DaemonProcess daemon(folder_, arguments);
    EXPECT_EQ(daemon.exit_code(), 2) << reason;
    EXPECT_NE(daemon.errors().find(reason), std::string::npos) << daemon.errors();
  }
}

TEST_F(Serve, AsksCommandLineThenFileThenEnvironmentForItsRoots) {
  for (const char* name : {"a", "b", "c", "install/workloads/x", "install/workloads/y"}) {
    fs::create_directories(folder_ / name);
  }
  const std::string folder = folder_.string();
  write("config.yaml",
        "roots:\n  - path: b\n    cluster: eos\nlisten: 127.0.0.1:0\ndb: from-file.db\n");
  const std::vector<std::string> file = {"--config", folder + "/config.yaml"};
  const DaemonProcess::Environment environment = {{"LLMB_WORKLOAD", folder + "/c"},
                                                  {"LLMB_INSTALL", folder + "/install"}};
  const auto started = [&](std::vector<std::string> all,
                           const DaemonProcess::Environment& variables) {
    DaemonProcess daemon(folder_, all, variables);
    EXPECT_NE(daemon.port(), 0) << daemon.errors();
    return daemon.output();
  };
  std::vector<std::string> with_root = file;
  with_root.push_back(folder + "/a");
  std::string output = started(with_root, environment);
  EXPECT_NE(output.find("watching  " + folder + "/a\n"), std::string::npos) << output;
  EXPECT_EQ(output.find("eos"), std::string::npos) << output;
  EXPECT_NE(output.find("database  " + folder + "/from-file.db\n"), std::string::npos) << output;
  output = started(file, environment);
  EXPECT_NE(output.find("watching  " + folder + "/b (cluster eos)\n"), std::string::npos) << output;
  output = started({"--listen", "127.0.0.1:0"}, environment);
  EXPECT_NE(output.find("watching  " + folder + "/c\n"), std::string::npos) << output;
  EXPECT_NE(output.find(folder + "/.local/state/llmb-report/llmb-report.db\n"), std::string::npos)
      << output;
  output = started({"--listen", "127.0.0.1:0"}, {environment[1]});
  EXPECT_NE(output.find("watching  " + folder + "/install/workloads/x\n"), std::string::npos);
  EXPECT_NE(output.find("watching  " + folder + "/install/workloads/y\n"), std::string::npos);
}

}  // namespace
}  // namespace llmb::cli
