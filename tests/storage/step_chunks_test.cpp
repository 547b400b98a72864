// The steps of settled logs: what is packed is read, changed and continued as if it stood in rows.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "storage/database_check.h"
#include "storage/open_database.h"
#include "storage/step_chunks.h"
#include "storage/step_rows.h"
#include "storage/table_layout.h"
#include "storage/table_sum.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using parser::StepSample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Steps = std::vector<StepSample>;

// In an order of their own: whichever comes first is nobody's promise.
std::vector<double> sorted(std::vector<double> times_s) {
  std::sort(times_s.begin(), times_s.end());
  return times_s;
}

// A step with what logs print, and now and then with what they hardly ever do.
StepSample any_step(std::mt19937& random, std::int32_t segment, std::int64_t iteration) {
  const auto one_of = [&](int count) { return random() % static_cast<unsigned>(count) == 0; };
  StepSample step = make_step(iteration, static_cast<double>(random() % 99'999) / 1'000, segment);
  step.byte_offset = static_cast<std::uint64_t>(segment) * 1'000'000 + step.byte_offset;
  if (one_of(3)) step.tflops_per_gpu = static_cast<double>(random() % 20'000) / 10;
  if (one_of(3)) step.loss = static_cast<double>(static_cast<float>(random()) / 3.0F);
  if (one_of(9)) step.loss = std::exp(static_cast<double>(random() % 100));
  if (one_of(40)) step.loss = std::numeric_limits<double>::infinity();
  if (one_of(40)) step.step_time_s.reset();
  if (one_of(2)) step.logged_at = "2026-11-23T10:00:" + std::to_string(10 + random() % 50);
  if (one_of(2)) step.consumed_samples = iteration * 512;
  if (one_of(30)) step.consumed_samples = std::numeric_limits<std::int64_t>::min();
  if (one_of(20)) step.extra_fields = {{"val_loss", 2.5}, {"it's", -0.5}};
  return step;
}

class StepChunks : public ::testing::Test {
 protected:
  Connection& connection() { return opened_->connection(); }
  std::int64_t count(const std::string& table) {
    return connection().read_one_integer("SELECT count(*) FROM " + table);
  }
  Steps stored(RunId run) {
    Steps steps;
    visit_steps(connection(), run, {}, {}, [&](StepSample&& step) { steps.push_back(step); });
    return steps;
  }
  // Within a transaction, as a writer's.
  template <typename Change>
  void change(Change change) {
    Transaction transaction(connection(), Transaction::Kind::write);
    change();
    transaction.commit();
  }
  RunId new_run(const std::string& name) {
    const IngestBatch batch = make_batch(root_, name);
    return writer_->commit({&batch, 1}).at(0);
  }
  void reopen() {
    opened_.reset();
    writer_.reset();
    writer_ = std::make_unique<Writer>(database_.options());
    opened_ = open_beside_writer(database_.options());
  }

  const TemporaryDatabase database_;
  std::unique_ptr<Writer> writer_ = std::make_unique<Writer>(database_.options());
  const RootId root_ = writer_->upsert_root("/logs", "");
  std::unique_ptr<OpenDatabase> opened_ = open_beside_writer(database_.options());
};

TEST_F(StepChunks, HoldWhatRowsHeld) {
  std::mt19937 random(7);
  Steps steps;
  for (std::int32_t segment = 0; segment < 3; ++segment) {
    for (std::int64_t i = 0; i < 2'500; ++i) steps.push_back(any_step(random, segment, i * 3));
  }
  const RunId run = new_run("a.out");
  change([&] { insert_steps(connection(), run, steps, false); });
  ASSERT_EQ(count("step_sample"), 7'500);
  change([&] { settle_steps(connection(), run); });
  EXPECT_EQ(count("step_sample") + count("step_field"), 0);
  EXPECT_EQ(count("step_chunk"), 9);
  EXPECT_TRUE(stored(run) == steps);
}

TEST_F(StepChunks, OfVeryLongLinesAreSmallEnoughToBeRead) {
  Steps steps;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    steps.push_back(make_step(i, 1.5));
    for (const char name : {'a', 'b', 'c'}) {
      steps.back().extra_fields.emplace_back(std::string(50'000, name), 2.5);
    }
  }
  const RunId run = new_run("a.out");
  change([&] { insert_steps(connection(), run, steps, true); });
  EXPECT_EQ(count("step_chunk"), 8);
  EXPECT_TRUE(stored(run) == steps);
}

// Whether the steps of a log were packed at once or bit by bit, the chunks are the same.
TEST_F(StepChunks, AreTheSameHoweverOftenALogSettled) {
  std::mt19937 random(8);
  Steps steps;
  for (std::int64_t i = 0; i < 3'000; ++i) steps.push_back(any_step(random, i < 1'500 ? 0 : 1, i));
  const RunId at_once = new_run("a.out");
  const RunId in_pieces = new_run("b.out");
  change([&] { insert_steps(connection(), at_once, steps, true); });
  for (std::size_t i = 0; i < steps.size();) {
    const std::size_t some = std::min<std::size_t>(1 + random() % 700, steps.size() - i);
    change([&] {
      upsert_steps(connection(), in_pieces, std::span(steps).subspan(i, some));
      settle_steps(connection(), in_pieces);
    });
    i += some;
  }
  const auto packed = [&](RunId run) {
    Statement select(connection(),
                     "SELECT packed FROM step_chunk WHERE run_id = ?"
                     " ORDER BY segment, last_iteration");
    select.integer(run);
    std::vector<std::string> all;
    while (select.step()) all.push_back(select.read_bytes());
    return all;
  };
  EXPECT_EQ(packed(in_pieces), packed(at_once));
  EXPECT_THAT(packed(at_once), SizeIs(4));
}

// One run whose log settles now and then beside one that never does: all that is done to both, and
// all that is asked of them.
TEST_F(StepChunks, ChangeNothingThatIsAskedOrDone) {
  std::mt19937 random(9);
  const RunId settled = new_run("a.out");
  const RunId rows = new_run("b.out");
  const auto below = [&](int end) { return static_cast<int>(random() % unsigned(end)); };
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Steps steps;
    const std::int32_t segment = below(3);
    const std::int64_t first = below(3'000);
    for (int i = 0, some = below(400); i < some; ++i) {
      steps.push_back(any_step(random, segment, first + i));
    }
    const int action = below(10);
    const StepKey key{below(3), below(3'000)};
    const std::uint64_t offset = static_cast<std::uint64_t>(below(2'300'000));
    std::vector<std::int64_t> answers;
    for (const RunId run : {settled, rows}) {
      change([&] {
        if (action < 6) {
          answers.push_back(upsert_steps(connection(), run, steps));
        } else if (action == 6) {
          const auto found = first_step_from_offset(connection(), run, offset);
          answers.push_back(found ? found->segment * 10'000 + found->iteration : -1);
          answers.push_back(delete_steps_from(connection(), run, offset));
        } else if (action == 7) {
          answers.push_back(delete_steps_from_key(connection(), run, key.segment, key.iteration));
        } else if (action == 8 && round % 10 == 0) {
          delete_steps(connection(), run);
        }
        if (run == settled && below(2) == 0) settle_steps(connection(), run);
      });
    }
    ASSERT_EQ(answers.size() % 2, 0U);
    const auto half = answers.begin() + static_cast<std::ptrdiff_t>(answers.size() / 2);
    EXPECT_TRUE(std::equal(answers.begin(), half, half));
    EXPECT_EQ(count_steps_before(connection(), settled, key),
              count_steps_before(connection(), rows, key));
    const std::int64_t limit = 1 + below(2'000);
    EXPECT_TRUE(read_steps_from(connection(), settled, key.segment, key.iteration, limit) ==
                read_steps_from(connection(), rows, key.segment, key.iteration, limit));
    EXPECT_TRUE(sorted(latest_step_times_s(connection(), settled, limit)) ==
                sorted(latest_step_times_s(connection(), rows, limit)));
    const parser::Window window{first, first + below(1'500)};
    for (const std::optional<std::int32_t> only :
         {std::optional<std::int32_t>(), std::optional<std::int32_t>(segment)}) {
      Steps seen[2];
      for (const bool is_packed : {false, true}) {
        visit_steps(connection(), is_packed ? settled : rows, window, only,
                    [&](StepSample&& step) { seen[is_packed ? 1 : 0].push_back(step); });
      }
      EXPECT_TRUE(seen[0] == seen[1]);
    }
    ASSERT_TRUE(stored(settled) == stored(rows));
  }
  EXPECT_GT(count("step_chunk"), 0);
}

// As an earlier version left them, or a daemon that was stopped before a log had settled.
TEST_F(StepChunks, AreMadeOfOldRowsWhenADatabaseIsOpened) {
  std::vector<IngestBatch> batches;
  for (int i = 0; i < 600; ++i) {
    batches.push_back(make_batch(root_, "old_" + std::to_string(i), 5));
    batches.back().summary.status = parser::RunStatus::complete;
  }
  batches.push_back(make_batch(root_, "growing", 7));
  const std::vector<RunId> runs = writer_->commit(batches);
  ASSERT_EQ(count("step_sample"), 3'007);
  reopen();
  EXPECT_EQ(count("step_sample"), 7);
  EXPECT_EQ(count("step_chunk"), 600);
  EXPECT_TRUE(stored(runs.at(300)) == batches.at(300).samples);
  EXPECT_TRUE(stored(runs.back()) == batches.back().samples);
  EXPECT_THAT(check_database(database_.path(), CheckDepth::thorough).miscounted,
              testing::Optional(IsEmpty()));
}

TEST_F(StepChunks, ThatWereDamagedAreNamed) {
  IngestBatch batch = make_batch(root_, "a.out", 50);
  batch.is_settled = true;
  const RunId run = writer_->commit({&batch, 1}).at(0);
  const std::string whole = [&] {
    Statement select(connection(), "SELECT packed FROM step_chunk");
    return select.step() ? select.read_bytes() : "";
  }();
  std::mt19937 random(10);
  for (int round = 0; round < 200; ++round) {
    std::string packed = whole;
    if (round % 2 == 0) packed.resize(random() % packed.size());
    if (!packed.empty()) packed[random() % packed.size()] ^= static_cast<char>(1 + random() % 255);
    connection().kept("UPDATE step_chunk SET packed = ?").bytes(packed).run();
    try {
      EXPECT_THAT(stored(run), SizeIs(50));  // a changed number is a number: checksums find it
    } catch (const StorageError& error) {
      EXPECT_EQ(error.kind, StorageError::Kind::corrupt);
      EXPECT_THAT(error.what(), HasSubstr("the steps 0 to 49 of run 1"));
    }
  }
  connection().kept("UPDATE step_chunk SET packed = ?").bytes(whole.substr(0, 40)).run();
  const DatabaseCheck check = check_database(database_.path(), CheckDepth::thorough);
  ASSERT_THAT(check.damage, SizeIs(1));
  EXPECT_THAT(check.damage.at(0), HasSubstr("cannot be read: 'packed' has to be"));
}

}  // namespace
}  // namespace llmb::storage
