// A server that writes nothing beside the one that does: over one SQLite file here, over PostgreSQL
// in postgresql_test.cpp.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/server/serve/growing_tree.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using testing::HasSubstr;

class ReadOnly : public testing::Test {
 protected:
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"--listen", "127.0.0.1:0", "--db", database_,
                                    "--allow-network-file-system"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  TemporaryFolder folder_;
  const std::string database_ = folder_.file("runs.db");
  const GrowingTree tree_{folder_.file("workload")};
};

TEST_F(ReadOnly, ServesWhatAnotherWritesAndTellsOfIt) {
  tree_.append_steps(0, 9);
  DaemonProcess writer(folder_.path(), arguments({tree_.root().string()}));
  ASSERT_TRUE(waits_for_steps(writer, 10)) << writer.errors();
  const TemporaryFolder elsewhere;
  DaemonProcess reader(elsewhere.path(), arguments({"--read-only"}));
  ASSERT_TRUE(waits_for_steps(reader, 10)) << reader.errors();
  EXPECT_EQ(reader.get("/api/v1/runs").body, writer.get("/api/v1/runs").body);
  EXPECT_EQ(reader.get("/readyz").status, 200);
  EXPECT_EQ(reader.get("/api/v1/jobs").status, 200);
  EXPECT_EQ(writer.get("/api/v1/jobs").status, 501);
  EXPECT_THAT(reader.get("/api/v1/status").body, HasSubstr("\"reads_only\":true"));
  Connection events(reader.port());
  events.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(events.receive("text/event-stream"), HasSubstr("200 OK"));
  tree_.append_steps(10, 19);
  EXPECT_THAT(events.receive("event: reset"), HasSubstr("event: reset"));
  EXPECT_TRUE(waits_for_steps(reader, 20)) << reader.errors();
  // It stays when the writer goes.
  EXPECT_EQ(writer.stop(SIGTERM), 0);
  EXPECT_EQ(reader.get("/api/v1/runs").status, 200);
  EXPECT_EQ(reader.stop(SIGTERM), 0);
}

TEST_F(ReadOnly, StandsByUntilTheWriterIsKilled) {
  tree_.append_steps(0, 9);
  const TemporaryFolder elsewhere;
  const auto all = arguments({"--stand-by", tree_.root().string()});
  auto first = std::make_unique<DaemonProcess>(folder_.path(), all);
  ASSERT_TRUE(waits_for_steps(*first, 10)) << first->errors();
  auto second = std::make_unique<DaemonProcess>(elsewhere.path(), all);
  ASSERT_TRUE(waits_for_steps(*second, 10)) << second->errors();
  EXPECT_THAT(second->output(), HasSubstr("standing by"));
  for (int round = 1; round <= 3; ++round) {
    SCOPED_TRACE(round);
    first->stop(SIGKILL);
    tree_.append_steps(10 * round, 10 * round + 9);
    // At the port where it stood by.
    ASSERT_TRUE(waits_for_steps(*second, 10 * round + 10)) << second->errors();
    EXPECT_THAT(second->errors(), HasSubstr("takes over"));
    first = std::make_unique<DaemonProcess>(folder_.path(), all);
    ASSERT_TRUE(waits_for_steps(*first, 10 * round + 10)) << first->errors();
    std::swap(first, second);
  }
  EXPECT_EQ(second->stop(SIGTERM), 0);
  EXPECT_EQ(first->stop(SIGTERM), 0);
}

TEST_F(ReadOnly, RefusesWhatItWouldHaveToWrite) {
  std::filesystem::create_directories(tree_.root());
  for (const std::string& more :
       {tree_.root().string(), std::string("--receive"), std::string("--stand-by")}) {
    DaemonProcess daemon(folder_.path(), arguments({"--read-only", more}));
    EXPECT_EQ(daemon.exit_code(), 2);
    EXPECT_THAT(daemon.errors(), HasSubstr("leave out the trees to watch"));
  }
}

TEST_F(ReadOnly, NeedsADatabaseThatIsThere) {
  DaemonProcess daemon(folder_.path(), arguments({"--read-only"}));
  EXPECT_EQ(daemon.exit_code(), 1);
  EXPECT_THAT(daemon.errors(), HasSubstr(database_));
  EXPECT_FALSE(std::filesystem::exists(database_));
}

}  // namespace
}  // namespace llmb::cli
