// Which runs an agent's database has still to push: against a question to all runs.
#include "storage/push_store.h"

#include <gmock/gmock.h>

#include <random>

#include "storage/database.h"
#include "storage/sqlite_connection.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PushPending : public testing::Test {
 protected:
  RunId commit(int number, int step_count, std::int64_t generation = 1) {
    IngestBatch batch = make_batch(root_, std::to_string(number) + ".out", step_count);
    batch.generation = generation;
    return writer_.commit({&batch, 1}).front();
  }

  // As a server answers that takes all, or has `lost` what it held.
  void push(RunId run, std::int64_t steps_max, bool has_lost = false) {
    const auto log = store_.tell(run, steps_max);
    if (log) answer(*log, has_lost);
  }
  void answer(const LogTelling& log, bool has_lost = false) {
    PushStore::Answer kept;
    kept.run = log.run.id;
    kept.told_revision = log.run.revision;
    kept.told_end = log.end();
    kept.result.verdict = has_lost ? PushVerdict::conflict : PushVerdict::taken;
    kept.result.revision = has_lost ? 0 : log.run.revision;
    kept.result.step_count = has_lost ? 0 : log.run.step_count;
    store_.keep_answers({&kept, 1});
  }
  void push_all() {
    for (const RunId run : store_.pending(0, 1'000)) push(run, 1'000);
  }

  std::vector<RunId> slowly_found() const {
    SqliteConnection connection(database_.path(), SqliteConnection::Mode::read_only);
    Statement select(connection,
                     "SELECT run.id FROM run JOIN root ON root.id = run.root_id"
                     " LEFT JOIN push_state AS p ON p.run_id = run.id WHERE root.pushed_from = ''"
                     " AND (p.run_id IS NULL OR p.server_revision <> run.revision"
                     " OR (p.from_segment, p.from_iteration) < (9223372036854775807, 0))"
                     " ORDER BY run.id");
    std::vector<RunId> runs;
    while (select.step()) runs.push_back(select.read_integer());
    return runs;
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  const RootId root_ = writer_.upsert_root("/logs", "");
  PushStore store_{database_.path()};
};

TEST_F(PushPending, IsWhatAQuestionToAllRunsFinds) {
  std::mt19937 random(7);  // NOLINT: the same changes in every test run, on purpose
  const auto below = [&](int limit) { return static_cast<int>(random() % unsigned(limit)); };
  constexpr int kLogs = 6;
  for (int round = 0; round < 300; ++round) {
    const std::vector<RunId> pending = store_.pending(0, 1'000);
    const RunId any = pending.empty() ? 1 : pending[random() % pending.size()];
    switch (below(8)) {
      case 0:
      case 1:
        commit(below(kLogs), below(6), 1 + round / 50);
        break;
      case 2:
        writer_.mark_vanished(root_, std::to_string(below(kLogs)) + ".out", "2026-02-01T00:00:00Z");
        break;
      case 3:
        push(any, 2);
        break;
      case 4:
        push_all();
        break;
      case 5:
        push(any, 1'000, true);
        break;
      case 6:  // the run changes while it is told
        if (const auto log = store_.tell(any, 1'000)) {
          commit(below(kLogs), below(6), 1 + round / 50);
          answer(*log);
        }
        break;
      default:
        store_.begin_comparison();
        if (const auto log = store_.tell(any, 1)) {
          const HeldLog held{any,
                             log->root_path,
                             log->run.relative_path,
                             log->run.generation,
                             log->known_revision,
                             log->known_step_count + below(2)};
          store_.compare({&held, 1});
        }
        store_.end_comparison();
    }
    const std::vector<RunId> expected = slowly_found();
    ASSERT_EQ(store_.pending(0, 1'000), expected) << "round " << round;
    ASSERT_EQ(store_.pending_count(), static_cast<std::int64_t>(expected.size()));
  }
}

TEST_F(PushPending, LooksOnlyAtRunsThatChanged) {
  const RunId first = commit(1, 3);
  const RunId second = commit(2, 3);
  EXPECT_THAT(store_.pending(0, 10), ElementsAre(first, second));
  EXPECT_THAT(store_.pending(first, 10), ElementsAre(second));
  push_all();
  EXPECT_THAT(store_.pending(0, 10), IsEmpty());
  writer_.update_configuration(first, {});
  EXPECT_THAT(store_.pending(0, 10), ElementsAre(first));
  SqliteConnection connection(database_.path(), SqliteConnection::Mode::read_only);
  for (const std::string& sql : pending_sql()) {
    Statement explain(connection, "EXPLAIN QUERY PLAN " + sql);
    while (explain.step()) {
      for (int i = 0; i < 3; ++i) explain.read_integer();  // id, parent, notused
      const std::string line = explain.read_text();
      const bool reads_all = line.starts_with("SCAN") && line != "SCAN CONSTANT ROW" &&
                             line.find("push_state_pending") == std::string::npos;
      EXPECT_FALSE(reads_all) << line << " in " << sql;
    }
  }
}

// What other clusters pushed here is not pushed on.
TEST_F(PushPending, LeavesOutPushedTrees) {
  const RunId own = commit(1, 3);
  {
    SqliteConnection connection(database_.path(), SqliteConnection::Mode::read_write);
    connection.execute("INSERT INTO root (id, path, pushed_from) VALUES (77, '/other', 'eos')");
  }
  IngestBatch other = make_batch(77, "2.out", 3);
  writer_.commit({&other, 1});
  const RunId last = commit(3, 3);
  EXPECT_THAT(store_.pending(0, 10), ElementsAre(own, last));
  push_all();
  EXPECT_EQ(store_.pending_count(), 0);
}

}  // namespace
}  // namespace llmb::storage
