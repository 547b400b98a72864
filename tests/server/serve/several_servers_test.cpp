// Several servers that write into one PostgreSQL database, each the runs of its own trees.
#include <gmock/gmock.h>
#include <signal.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/server/serve/growing_tree.h"
#include "tests/server/serve/postgresql_fixture.h"

namespace llmb::cli {
namespace {

using testing::HasSubstr;

class SeveralServers : public PostgresqlTest {
 protected:
  using Server = std::unique_ptr<DaemonProcess>;

  Server start(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"--listen", "127.0.0.1:0", "--db", database_->path()};
    all.insert(all.end(), more.begin(), more.end());
    return std::make_unique<DaemonProcess>(folder_.path(), all);
  }
  // Of every log: how many steps it has, in which generation.
  static std::map<std::string, std::string> steps_by_log(DaemonProcess& server) {
    std::map<std::string, std::string> logs;
    const Answer answer = server.get("/api/v1/runs?limit=100");
    if (answer.status != 200) return logs;
    const auto runs = answer.json()["runs"];
    for (const auto& run : runs) {
      const std::string log =
          std::to_string(run["root_id"].get<int>()) + " " + run["relative_path"].get<std::string>();
      const std::string has = std::to_string(run["step_count"].get<int>()) + " of generation " +
                              std::to_string(run["generation"].get<int>());
      EXPECT_TRUE(logs.emplace(log, has).second) << log << " is there twice";
    }
    return logs;
  }

  const GrowingTree one_{folder_.path() / "one"};
  const GrowingTree other_{folder_.path() / "other"};
  const GrowingTree shared_{folder_.path() / "shared"};
};

TEST_F(SeveralServers, EachWritesItsOwnTreeAndShowsAll) {
  one_.append_steps(0, 9);
  other_.append_steps(0, 4);
  const Server first = start({one_.root().string()});
  const Server second = start({other_.root().string()});
  for (DaemonProcess* const server : {first.get(), second.get()}) {
    ASSERT_TRUE(waits_for_steps(*server, 15)) << server->errors();
  }
  Connection events(second->port());
  events.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(events.receive("text/event-stream"), HasSubstr("200 OK"));
  one_.append_steps(10, 19);
  EXPECT_THAT(events.receive("event: r"), HasSubstr("event: r")) << "of the other server's run";
  other_.append_steps(5, 9);
  for (DaemonProcess* const server : {first.get(), second.get()}) {
    ASSERT_TRUE(waits_for_steps(*server, 30)) << server->errors();
    EXPECT_EQ(server->get("/readyz").status, 200);
    EXPECT_THAT(server->get("/api/v1/status").body, HasSubstr("\"roots_standing_by\":[]"));
  }
  for (const char* const target : {"/api/v1/runs", "/api/v1/runs/1/steps", "/api/v1/experiments"}) {
    EXPECT_EQ(first->get(target).body, second->get(target).body) << target;
  }
  EXPECT_EQ(first->stop(SIGTERM), 0);
  EXPECT_EQ(second->stop(SIGTERM), 0);
}

// The server that watches the tree knows the log as one that it has read, or as a removed one, and
// nothing of the tree changes.
TEST_F(SeveralServers, ARemovalIsUndoneWhileTheyRun) {
  one_.append_steps(0, 9);
  other_.append_steps(0, 4);
  // What is running, and grew within a day, would stay.
  std::filesystem::last_write_time(
      one_.log(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(48));
  const Server second = start({other_.root().string()});
  ASSERT_TRUE(waits_for_steps(*second, 5)) << second->errors();
  Server first = start({one_.root().string()});
  ASSERT_TRUE(waits_for_steps(*first, 15)) << first->errors();
  const auto prune = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--db", database_->path(), "--root", one_.root().string(),
                                         "--older-than", "2100-01-01", "--yes"});
    DaemonProcess command(folder_.path(), arguments, {}, "prune");
    EXPECT_EQ(command.exit_code(), 0) << command.errors();
  };
  for (const bool knows_it_as_removed : {false, true}) {
    SCOPED_TRACE(knows_it_as_removed);
    prune({});
    ASSERT_TRUE(waits_for_steps(*first, 5)) << first->errors();
    if (knows_it_as_removed) {
      EXPECT_EQ(first->stop(SIGTERM), 0);
      first = start({one_.root().string()});
      ASSERT_TRUE(wait_until([&] { return first->get("/readyz").status == 200; }));
      ASSERT_TRUE(waits_for_steps(*first, 5)) << first->errors();
    }
    prune({"--undo"});
    ASSERT_TRUE(waits_for_steps(*first, 15)) << first->errors();
  }
  EXPECT_EQ(first->stop(SIGTERM), 0);
}

TEST_F(SeveralServers, ATreeThatAnotherWatchesIsRefused) {
  one_.append_steps(0, 9);
  const Server first = start({one_.root().string()});
  ASSERT_TRUE(waits_for_steps(*first, 10)) << first->errors();
  const Server second = start({other_.root().string(), one_.root().string()});
  EXPECT_EQ(second->exit_code(), 1);
  EXPECT_THAT(second->errors(), HasSubstr("is watched by another process already"));
  EXPECT_THAT(second->errors(), HasSubstr("--stand-by"));
}

TEST_F(SeveralServers, TreesOfOnePathOnTwoClustersAreRefused) {
  one_.append_steps(0, 9);
  const auto configuration = [&](const std::string& cluster) {
    const std::string file = folder_.file(cluster + ".yaml");
    std::ofstream(file) << "roots:\n  - path: " << one_.root().string()
                        << "\n    cluster: " << cluster << '\n';
    return file;
  };
  const Server first = start({"--config", configuration("eos")});
  ASSERT_TRUE(waits_for_steps(*first, 10)) << first->errors();
  const Server second = start({"--config", configuration("dgx"), "--stand-by"});
  EXPECT_EQ(second->exit_code(), 1);
  EXPECT_THAT(second->errors(), HasSubstr("of two trees of one path one has to be pushed"));
}

TEST_F(SeveralServers, AllThatBeginOnAnEmptyDatabaseAtOnceAreUp) {
  std::vector<Server> servers;
  for (int i = 0; i < 4; ++i) {
    const GrowingTree tree(folder_.path() / ("tree" + std::to_string(i)));
    tree.append_steps(0, 9);
    servers.push_back(start({tree.root().string()}));
  }
  for (const Server& server : servers) {
    EXPECT_TRUE(waits_for_steps(*server, 40)) << server->errors();
  }
}

// Two servers with a tree of their own each, and one that both could watch. Whoever is killed is
// started anew, while all trees grow.
TEST_F(SeveralServers, OneThatIsKilledIsFollowedByTheOther) {
  const std::vector<std::string> arguments_of_first = {"--stand-by", one_.root().string(),
                                                       shared_.root().string()};
  const std::vector<std::string> arguments_of_second = {"--stand-by", other_.root().string(),
                                                        shared_.root().string()};
  one_.append_steps(0, 4);
  other_.append_steps(0, 4);
  shared_.append_steps(0, 4);
  Server first = start(arguments_of_first);
  ASSERT_TRUE(waits_for_steps(*first, 10)) << first->errors();
  Server second = start(arguments_of_second);
  ASSERT_TRUE(waits_for_steps(*second, 15)) << second->errors();
  EXPECT_THAT(second->get("/api/v1/status").body,
              HasSubstr("\"roots_standing_by\":[\"" + shared_.root().string() + "\"]"));
  bool first_has_it = true;
  int end = 4;
  for (int round = 1; round <= 6; ++round) {
    SCOPED_TRACE(round);
    Server& killed = first_has_it ? first : second;
    const GrowingTree& left = first_has_it ? one_ : other_;
    DaemonProcess& other = first_has_it ? *second : *first;
    left.append_steps(end + 1, end + 2);
    shared_.append_steps(end + 1, end + 2);
    killed->stop(SIGKILL);
    shared_.append_steps(end + 3, end + 5);
    shared_.append_steps(0, 4, 200 + round);  // a new log
    (first_has_it ? other_ : one_).append_steps(end + 1, end + 5);
    EXPECT_TRUE(wait_until([&] {
      const auto logs = steps_by_log(other);
      int of_shared = 0;
      for (const auto& [log, has] : logs) {
        of_shared += has == std::to_string(end + 6) + " of generation 0" ? 1 : 0;
      }
      return of_shared == 2;  // the shared tree's old log, and that of the tree that nobody left
    })) << other.errors();
    killed = start(first_has_it ? arguments_of_first : arguments_of_second);
    left.append_steps(end + 3, end + 5);
    first_has_it = !first_has_it;
    end += 5;
    for (DaemonProcess* const server : {first.get(), second.get()}) {
      ASSERT_TRUE(waits_for_steps(*server, 3 * (end + 1) + 5 * round)) << server->errors();
    }
  }
  const auto from_both = steps_by_log(*first);
  EXPECT_EQ(from_both.size(), 3U + 6U);
  for (const auto& [log, has] : from_both) {
    EXPECT_THAT(has, testing::AnyOf("35 of generation 0", "5 of generation 0")) << log;
  }
  // As one reads it who has never seen the trees.
  const std::string fresh = folder_.file("fresh.db");
  DaemonProcess afresh(folder_.path(),
                       {"--listen", "127.0.0.1:0", "--db", fresh, "--allow-network-file-system",
                        one_.root().string(), shared_.root().string(), other_.root().string()});
  ASSERT_TRUE(waits_for_steps(afresh, 3 * 35 + 5 * 6)) << afresh.errors();
  std::vector<std::string> steps_there;
  std::vector<std::string> steps_here;
  for (int run = 1; run <= 9; ++run) {
    const std::string target = "/api/v1/runs/" + std::to_string(run) + "/steps";
    steps_there.push_back(first->get(target).json()["columns"].dump());
    steps_here.push_back(afresh.get(target).json()["columns"].dump());
  }
  EXPECT_THAT(steps_there, testing::UnorderedElementsAreArray(steps_here));
}

TEST_F(SeveralServers, SessionsThatEndLoseAndDoubleNothing) {
  shared_.append_steps(0, 4);
  const Server first = start({"--stand-by", one_.root().string(), shared_.root().string()});
  ASSERT_TRUE(waits_for_steps(*first, 5)) << first->errors();
  const Server second = start({"--stand-by", other_.root().string(), shared_.root().string()});
  ASSERT_TRUE(waits_for_steps(*second, 5)) << second->errors();
  for (int i = 1; i < 10; ++i) {
    shared_.append_steps(i * 5, i * 5 + 4);
    one_.append_steps(0, 4, 200 + i);
    end_all_sessions();
    other_.append_steps(0, 4, 300 + i);
  }
  for (DaemonProcess* const server : {first.get(), second.get()}) {
    EXPECT_TRUE(waits_for_steps(*server, 50 + 45 + 45)) << server->errors();
  }
  for (const auto& [log, has] : steps_by_log(*first)) {
    EXPECT_THAT(has, testing::AnyOf("50 of generation 0", "5 of generation 0")) << log;
  }
  // One of them watches what both could, and no more than one.
  EXPECT_TRUE(wait_until([&] {
    std::size_t standing_by = 0;
    for (DaemonProcess* const server : {first.get(), second.get()}) {
      standing_by += server->get("/api/v1/status").json()["roots_standing_by"].size();
    }
    return standing_by == 1;
  }));
}

}  // namespace
}  // namespace llmb::cli
