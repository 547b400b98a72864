// Two servers that write into one PostgreSQL database, of which one watches a folder of the other's
// tree: each log is read once, whoever began first and whoever is killed.
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

class NestedTrees : public PostgresqlTest {
 protected:
  using Server = std::unique_ptr<DaemonProcess>;

  Server start(const GrowingTree& tree) const {
    return std::make_unique<DaemonProcess>(
        folder_.path(), std::vector<std::string>{"--listen", "127.0.0.1:0", "--db",
                                                 database_->path(), tree.root().string()});
  }
  // Of every log, by its whole path: how many steps it has. One that is listed twice has both.
  std::map<std::string, std::string> steps_by_log(DaemonProcess& server) const {
    std::map<std::string, std::string> logs;
    const Answer roots = server.get("/api/v1/roots");
    const Answer answer = server.get("/api/v1/runs?limit=100");
    if (roots.status != 200 || answer.status != 200) return logs;
    std::map<int, std::string> paths;
    const auto all_roots = roots.json()["roots"];
    for (const auto& root : all_roots) {
      paths[root["id"].get<int>()] = root["path"].get<std::string>();
    }
    const auto runs = answer.json()["runs"];
    for (const auto& run : runs) {
      const std::string log =
          paths[run["root_id"].get<int>()] + "/" + run["relative_path"].get<std::string>();
      std::string& has = logs[log];
      has += (has.empty() ? "" : " and ") + std::to_string(run["step_count"].get<int>());
    }
    return logs;
  }
  void expect_steps(DaemonProcess& server, const std::map<std::string, std::string>& wanted) const {
    EXPECT_TRUE(wait_until([&] { return steps_by_log(server) == wanted; }))
        << testing::PrintToString(steps_by_log(server)) << "\n"
        << server.errors();
  }
  // Where the log stands, and whose root's it is told to be.
  std::string root_of(DaemonProcess& server, const GrowingTree& tree) const {
    const Answer roots = server.get("/api/v1/roots");
    const auto all_roots = roots.json()["roots"];
    for (const auto& root : all_roots) {
      const int runs = server.get("/api/v1/runs?root_id=" + std::to_string(root["id"].get<int>()))
                           .json()["total"]
                           .get<int>();
      if (runs > 0 && root["path"].get<std::string>() == tree.root().string()) return "its own";
    }
    return "another";
  }

  const GrowingTree outer_{folder_.path() / "experiments"};
  const GrowingTree inner_{folder_.path() / "experiments" / "team"};
};

TEST_F(NestedTrees, TheOuterOneLeavesOutWhatIsWatchedLater) {
  outer_.append_steps(0, 9);
  inner_.append_steps(0, 4);
  const Server outer = start(outer_);
  expect_steps(*outer, {{outer_.log(), "10"}, {inner_.log(), "5"}});
  const Server inner = start(inner_);
  EXPECT_TRUE(wait_until([&] { return root_of(*inner, inner_) == "its own"; })) << inner->errors();
  inner_.append_steps(5, 9);
  inner_.append_steps(0, 2, 200);
  outer_.append_steps(10, 12);
  for (DaemonProcess* const server : {outer.get(), inner.get()}) {
    expect_steps(*server, {{outer_.log(), "13"}, {inner_.log(), "10"}, {inner_.log(200), "3"}});
  }
  EXPECT_THAT(outer->errors(), HasSubstr("so the tree " + outer_.root().string()));
  EXPECT_THAT(inner->errors(), HasSubstr("waiting until the tree " + outer_.root().string()));
  EXPECT_EQ(outer->stop(SIGTERM), 0);
  EXPECT_EQ(inner->stop(SIGTERM), 0);
}

TEST_F(NestedTrees, WhoeverIsKilledLosesAndDoublesNothing) {
  outer_.append_steps(0, 9);
  inner_.append_steps(0, 4);
  Server inner = start(inner_);
  expect_steps(*inner, {{inner_.log(), "5"}});
  Server outer = start(outer_);
  int end = 4;
  for (int round = 1; round <= 4; ++round) {
    SCOPED_TRACE(round);
    const bool kills_inner = round % 2 == 1;
    inner_.append_steps(end + 1, end + 2);
    (kills_inner ? inner : outer)->stop(SIGKILL);
    inner_.append_steps(end + 3, end + 5);
    inner_.append_steps(0, 4, 200 + round);
    if (kills_inner) {
      inner = start(inner_);
    } else {
      outer = start(outer_);
    }
    end += 5;
    std::map<std::string, std::string> wanted = {{outer_.log(), "10"}};
    wanted[inner_.log()] = std::to_string(end + 1);
    for (int log = 1; log <= round; ++log) wanted[inner_.log(200 + log)] = "5";
    for (DaemonProcess* const server : {outer.get(), inner.get()}) expect_steps(*server, wanted);
  }
  EXPECT_THAT(outer->errors(), HasSubstr("leaves out what another process watches"));
}

}  // namespace
}  // namespace llmb::cli
