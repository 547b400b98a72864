// llmb-report with its runs in a PostgreSQL database: while the server is away nothing is lost, and
// what is refused is told.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "storage/job_store.h"
#include "tests/server/serve/daemon_process.h"
#include "tests/server/serve/growing_tree.h"
#include "tests/server/serve/postgresql_fixture.h"

namespace llmb::cli {
namespace {

// A second server that follows the first one, and takes no session that would LISTEN or lock.
class Standby {
 public:
  Standby() {
    const std::string command =
        LLMB_SOURCE_DIR "/deploy/postgres-dev/standby " + first_ + " " + folder_;
    is_up_ = run(command);
  }
  ~Standby() { run(LLMB_SOURCE_DIR "/deploy/postgres-dev/down --remove " + folder_); }
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  bool is_up() const { return is_up_; }
  // The URL of the same database here.
  std::string url_of(std::string url) const {
    return url.replace(url.find(first_), first_.size(), folder_);
  }
  const std::string& folder() const { return folder_; }
  // From now on it is a first one itself.
  void promote() const {
    storage::execute_sql_at_server(url_of(server_url()), "SELECT pg_promote()");
  }

 private:
  static std::string server_url() { return std::getenv("LLMB_TEST_POSTGRESQL"); }
  static bool run(const std::string& command) {
    return std::system((command + " >/dev/null").c_str()) == 0;
  }
  const std::string first_ = std::getenv("LLMB_TEST_POSTGRESQL_FOLDER");
  const std::string folder_ = first_ + "-standby";
  bool is_up_ = false;
};

class Postgresql : public PostgresqlTest {
 protected:
  std::vector<std::string> arguments() const {
    return {"--listen", "127.0.0.1:0", "--db", database_->path(), tree_.root().string()};
  }

  static void server(const std::string& what) {
    const std::string folder = std::getenv("LLMB_TEST_POSTGRESQL_FOLDER");
    const std::string flag = what == "up" ? " --no-install " : " ";
    const std::string command =
        LLMB_SOURCE_DIR "/deploy/postgres-dev/" + what + flag + folder + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  const GrowingTree tree_{folder_.path() / "workload"};
};

TEST_F(Postgresql, HoldsWhatGrowsAndIsReadAgainAfterARestart) {
  tree_.append_steps(0, 19);
  {
    DaemonProcess daemon(folder_.path(), arguments());
    ASSERT_TRUE(waits_for_steps(daemon, 20)) << daemon.errors();
    tree_.append_steps(20, 29);
    ASSERT_TRUE(waits_for_steps(daemon, 30)) << daemon.errors();
    EXPECT_EQ(daemon.stop(SIGTERM), 0);
  }
  tree_.append_steps(30, 49);
  DaemonProcess daemon(folder_.path(), arguments());
  ASSERT_TRUE(waits_for_steps(daemon, 50)) << daemon.errors();
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
}

TEST_F(Postgresql, SessionsThatEndLoseAndDoubleNothing) {
  tree_.append_steps(0, 4);
  DaemonProcess daemon(folder_.path(), arguments());
  ASSERT_TRUE(waits_for_steps(daemon, 5)) << daemon.errors();
  for (int i = 1; i < 10; ++i) {
    tree_.append_steps(i * 5, i * 5 + 4);
    tree_.append_steps(0, 4, 200 + i);
    end_all_sessions();
  }
  EXPECT_TRUE(waits_for_steps(daemon, 50 + 45)) << daemon.errors();
}

TEST_F(Postgresql, AServerThatIsAwayIsSaidAndWaitedFor) {
  tree_.append_steps(0, 9);
  DaemonProcess daemon(folder_.path(), arguments());
  ASSERT_TRUE(waits_for_steps(daemon, 10)) << daemon.errors();
  server("down");
  tree_.append_steps(10, 19);
  EXPECT_TRUE(wait_until([&] {
    const Answer answer = daemon.get("/api/v1/runs");
    return answer.status == 503 && !answer.header("Retry-After").empty();
  }));
  server("up");
  EXPECT_TRUE(waits_for_steps(daemon, 20)) << daemon.errors();
}

TEST_F(Postgresql, HasAsManyServersAsReadOnly) {
  tree_.append_steps(0, 9);
  DaemonProcess writer(folder_.path(), arguments());
  ASSERT_TRUE(waits_for_steps(writer, 10)) << writer.errors();
  const TemporaryFolder elsewhere;
  const std::vector<std::string> read_only = {"--listen", "127.0.0.1:0", "--db", database_->path(),
                                              "--read-only"};
  DaemonProcess first(elsewhere.path(), read_only);
  DaemonProcess second(elsewhere.path(), read_only);
  for (DaemonProcess* const reader : {&first, &second}) {
    EXPECT_TRUE(waits_for_steps(*reader, 10)) << reader->errors();
    EXPECT_EQ(reader->get("/api/v1/runs").body, writer.get("/api/v1/runs").body);
  }
  Connection events(second.port());
  events.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(events.receive("text/event-stream").find("200 OK"), std::string::npos);
  tree_.append_steps(10, 19);
  // Of the run, or where it did not listen yet, of anything.
  EXPECT_NE(events.receive("event: r").find("event: r"), std::string::npos);
  // A server that is away is waited for by all of them.
  server("down");
  EXPECT_TRUE(wait_until([&] { return second.get("/api/v1/runs").status == 503; }));
  server("up");
  tree_.append_steps(20, 29);
  EXPECT_TRUE(waits_for_steps(first, 30)) << first.errors();
  EXPECT_TRUE(waits_for_steps(second, 30)) << second.errors();
}

TEST_F(Postgresql, AStandbyServesWhatItFollows) {
  tree_.append_steps(0, 9);
  DaemonProcess writer(folder_.path(), arguments());
  ASSERT_TRUE(waits_for_steps(writer, 10)) << writer.errors();
  const Standby standby;
  ASSERT_TRUE(standby.is_up());
  const TemporaryFolder elsewhere;
  DaemonProcess reader(elsewhere.path(), {"--listen", "127.0.0.1:0", "--db",
                                          standby.url_of(database_->path()), "--read-only"});
  ASSERT_TRUE(waits_for_steps(reader, 10)) << reader.errors();
  tree_.append_steps(10, 19);
  EXPECT_TRUE(waits_for_steps(reader, 20)) << reader.errors();
  for (const char* const target : {"/api/v1/runs", "/api/v1/runs/1/steps", "/api/v1/experiments"}) {
    EXPECT_EQ(reader.get(target).body, writer.get(target).body) << target;
  }
  // The first server goes: what was followed is served on.
  server("down");
  EXPECT_EQ(reader.get("/api/v1/runs").status, 200);
  EXPECT_EQ(reader.get("/readyz").status, 200);
  server("up");
}

TEST_F(Postgresql, AServerThatStandsByTakesOver) {
  tree_.append_steps(0, 9);
  std::vector<std::string> standing_by = arguments();
  standing_by.emplace_back("--stand-by");
  DaemonProcess writer(folder_.path(), standing_by);
  ASSERT_TRUE(waits_for_steps(writer, 10)) << writer.errors();
  const TemporaryFolder elsewhere;
  DaemonProcess other(elsewhere.path(), standing_by);
  ASSERT_TRUE(waits_for_steps(other, 10)) << other.errors();
  // An end of all sessions makes no second writer: who is faster is the one.
  end_all_sessions();
  tree_.append_steps(10, 19);
  ASSERT_TRUE(waits_for_steps(writer, 20)) << writer.errors();
  ASSERT_TRUE(waits_for_steps(other, 20)) << other.errors();
  writer.stop(SIGKILL);
  tree_.append_steps(20, 29);
  EXPECT_TRUE(waits_for_steps(other, 30)) << other.errors();
}

// libpq asks one host after the other for the one that takes writes.
TEST_F(Postgresql, GoesOnAtTheStandbyThatTakesOver) {
  tree_.append_steps(0, 9);
  const Standby standby;
  ASSERT_TRUE(standby.is_up());
  std::vector<std::string> both = arguments();
  std::string& url = both[3];
  url += "," + standby.folder() + "&target_session_attrs=read-write";
  DaemonProcess daemon(folder_.path(), both);
  ASSERT_TRUE(waits_for_steps(daemon, 10)) << daemon.errors();
  server("down");  // which sends the standby all that it has
  tree_.append_steps(10, 19);
  EXPECT_TRUE(wait_until([&] { return daemon.get("/api/v1/runs").status == 503; }));
  standby.promote();
  EXPECT_TRUE(waits_for_steps(daemon, 20)) << daemon.errors();
  EXPECT_EQ(daemon.stop(SIGTERM), 0);
  server("up");
}

TEST_F(Postgresql, RefusesADatabaseWithTablesOfAnotherProgramUntouched) {
  storage::execute_sql(database_->path(), "CREATE TABLE theirs (id int)");
  DaemonProcess daemon(folder_.path(), arguments());
  EXPECT_NE(daemon.exit_code(), 0);
  EXPECT_NE(daemon.errors().find("tables of another program"), std::string::npos)
      << daemon.errors();
  storage::execute_sql(database_->path(), "CREATE TABLE root (id int)");  // there is none yet
}

TEST_F(Postgresql, AServerThatIsNotThereIsToldWithoutThePassword) {
  DaemonProcess daemon(folder_.path(),
                       {"--listen", "127.0.0.1:0", "--db",
                        "postgresql://llmb:secret@127.0.0.1:9/runs", tree_.root().string()});
  EXPECT_NE(daemon.exit_code(), 0);
  const std::string said = daemon.errors();
  EXPECT_NE(said.find("postgresql://llmb@127.0.0.1:9/runs"), std::string::npos) << said;
  EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  EXPECT_NE(said.find("Connection refused. Check that the server runs"), std::string::npos) << said;
}

TEST_F(Postgresql, KeepsTokensAndJobs) {
  storage::JobStore store(database_->options());
  storage::TokenRecord token;
  token.name = "ci";
  token.sha256 = "00";
  token.scopes = {"submit"};
  token.created_at = token.expires_at = "2026-01-02T03:04:05Z";
  EXPECT_EQ(store.insert_token(token), 1);
  ASSERT_TRUE(store.token_by_hash("00"));
  storage::JobRecord job;
  job.submission_id = "s1";
  job.cluster = "eos";
  job.experiment = "pretrain_grok1";
  job.created_at = job.updated_at = token.created_at;
  const storage::JobRequest request{"ci", "key", "hash", {}};
  const auto recorded = store.record(request, {job}, job.created_at);
  ASSERT_EQ(recorded.jobs.size(), 1U);
  const auto repeated = store.record(request, {job}, job.created_at);
  EXPECT_EQ(repeated.kind, storage::RecordedRequest::Kind::repeated);
  EXPECT_EQ(repeated.jobs.at(0).id, recorded.jobs.at(0).id);
  EXPECT_EQ(store.jobs(10, std::nullopt).size(), 1U);
}

}  // namespace
}  // namespace llmb::cli
