// A removal that is killed at any instant, and called again.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <set>

#include "tests/storage/copied_databases.h"
#include "tests/storage/removal_fixture.h"

namespace llmb::storage {
namespace {

constexpr int kRemovalKills = 24;
constexpr int kOld = 1'500;
constexpr int kYoung = 50;

// Reports each transaction with a byte.
[[noreturn]] void remove_and_report(const OpenOptions& options, int report) {
  try {
    const auto tell = [&] {
      if (write(report, "r", 1) != 1) _exit(3);
    };
    Writer writer(options);
    Removal removal(Reader(options.path).removal_plan(older_than_2025(), kNow));
    tell();
    for (auto logs = removal.next(); !logs.empty(); logs = removal.next()) {
      writer.remove_logs(older_than_2025(), logs, kNow);
      tell();
    }
    _exit(0);
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  _exit(1);
}

// Kills it after so many reports and a while. True: it ended by itself, well.
bool remove_until_killed(const OpenOptions& options, unsigned steps, unsigned long while_spins) {
  int reports[2];
  EXPECT_EQ(pipe(reports), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(reports[0]);
    remove_and_report(options, reports[1]);
  }
  close(reports[1]);
  char byte = 0;
  for (unsigned seen = 0; seen != steps && read(reports[0], &byte, 1) == 1;) ++seen;
  volatile unsigned long spin = while_spins;
  while (spin > 0) spin = spin - 1;
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  close(reports[0]);
  if (WIFSIGNALED(status)) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

// Each log is there whole, or is one of those that were removed: neither both, nor nothing.
void expect_each_log_once(const std::string& place) {
  const AllRows rows = all_rows(place);
  Reader reader(place);
  std::set<std::string> known;
  for (const RemovedLog& log : reader.removed_logs()) {
    EXPECT_TRUE(known.insert(log.relative_path).second) << log.relative_path;
  }
  std::int64_t runs = 0;
  for (const Reader::KnownFile& file : reader.known_files()) {
    EXPECT_TRUE(known.insert(file.relative_path).second) << file.relative_path;
    ++runs;
  }
  EXPECT_EQ(known.size(), static_cast<std::size_t>(kOld + kYoung));
  EXPECT_EQ(rows.at("log_cursor").size(), static_cast<std::size_t>(runs));
  EXPECT_EQ(reader.totals().steps, runs * 2);
  EXPECT_EQ(reader.removal_total().count.runs, kOld + kYoung - runs);
}

class RemovalCrash : public ::testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (GetParam() == Engine::postgresql && !has_postgresql()) {
      GTEST_SKIP() << "needs a PostgreSQL server, which tests/postgresql/with_server.sh gives it";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Databases, RemovalCrash,
                         ::testing::Values(Engine::sqlite, Engine::postgresql),
                         [](const auto& engine) {
                           return engine.param == Engine::sqlite ? "Sqlite" : "Postgresql";
                         });

TEST_P(RemovalCrash, GoesOnWhereItWasKilled) {
  std::mt19937 random(18);  // NOLINT: a failure must come again
  int kills = 0;
  int ended = 0;
  while (kills < kRemovalKills) {
    const NewPlace place(GetParam());
    {
      Writer writer(place.options());
      const RootId root = writer.upsert_root("/logs", "eos");
      std::vector<IngestBatch> batches;
      for (int i = 0; i < kOld + kYoung; ++i) {
        batches.push_back(log_of(root, "run_" + std::to_string(i) + ".out",
                                 i < kOld ? "2024-05-01T00:00:00Z" : "2026-05-01T00:00:00Z"));
      }
      writer.commit(batches);
    }
    while (!remove_until_killed(place.options(), static_cast<unsigned>(random() % 5),
                                random() % 3'000'000)) {
      ++kills;
      expect_each_log_once(place.path());
      if (HasFailure()) return;
    }
    ++ended;
    expect_each_log_once(place.path());
    EXPECT_EQ(Reader(place.path()).run_count({}), kYoung);
  }
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace llmb::storage
