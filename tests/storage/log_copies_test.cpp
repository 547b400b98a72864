// Which runs look like copies of another: on either engine, and how it is asked.
#include <gmock/gmock.h>

#include "storage/database.h"
#include "storage/log_copies.h"
#include "storage/sqlite_connection.h"
#include "storage/sqlite_dialect.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class LogCopies : public testing::Test {
 protected:
  LogCopies() : root_(writer_.upsert_root("/logs", "")) {}

  // Runs of logs in `folder` with the same bytes as all others that nothing changes.
  IngestBatch log_in(const std::string& folder) const {
    IngestBatch batch = make_batch(root_, folder + "/log.out", 40);
    batch.cursor.head_hash = 0xFFFFFFFFFFFFFFFFULL;  // as bits: more than an integer holds
    batch.cursor.head_length = 1'024;
    batch.summary.step_time_s = parser::WindowStatistics{34, 7.1, 0.2, 0.3, 7.0, 6.9, 7.5, 7.4};
    return batch;
  }

  RunId add(const IngestBatch& batch) { return writer_.commit({&batch, 1}).front(); }

  std::vector<std::pair<RunId, RunId>> copies_of(const std::vector<RunId>& ids) const {
    Reader reader(database_.path());
    std::vector<std::pair<RunId, RunId>> copies;
    for (const LikelyCopy& copy : reader.likely_copies(ids)) {
      copies.emplace_back(copy.run, copy.original);
    }
    return copies;
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  RootId root_ = 0;
};

TEST_F(LogCopies, AreOfTheFirstRunThatLooksAlike) {
  const RunId first = add(log_in("a"));
  const RunId second = add(log_in("b"));
  const RunId third = add(log_in("c"));
  EXPECT_THAT(copies_of({first, second, third}),
              UnorderedElementsAre(Pair(second, first), Pair(third, first)));
  EXPECT_THAT(copies_of({third}), UnorderedElementsAre(Pair(third, first)));
  EXPECT_THAT(copies_of({first}), IsEmpty());
  EXPECT_THAT(copies_of({}), IsEmpty());
}

TEST_F(LogCopies, AreNoneWhereAnythingDiffersOrIsNotKnown) {
  std::vector<RunId> ids = {add(log_in("a"))};
  IngestBatch longer = log_in("longer");
  ++longer.size_bytes;
  IngestBatch begun_otherwise = log_in("begun otherwise");
  --begun_otherwise.cursor.head_hash;
  IngestBatch known_further = log_in("known further");
  ++known_further.cursor.head_length;
  IngestBatch slower = log_in("slower");
  slower.summary.step_time_s->max = 7.6;
  IngestBatch other_window = log_in("other window");
  other_window.summary.step_time_s->mean = 7.2;
  for (const IngestBatch& batch : {longer, begun_otherwise, known_further, slower, other_window}) {
    ids.push_back(add(batch));
  }
  for (const char* const folder : {"unknown", "unknown too"}) {
    IngestBatch unknown = log_in(folder);
    unknown.summary.step_time_s->mean = 8;
    unknown.cursor.head_hash = 0;
    ids.push_back(add(unknown));
    unknown.relative_path += ".untimed";
    unknown.summary.step_time_s.reset();
    unknown.cursor.head_hash = 1;
    ids.push_back(add(unknown));
  }
  EXPECT_THAT(copies_of(ids), IsEmpty());
}

// As comparisons have it: a run that does not count is no reason to leave another out.
TEST_F(LogCopies, AreOfTheRunThatCounts) {
  IngestBatch unfinished = log_in("a");
  unfinished.summary.status = parser::RunStatus::incomplete;
  const RunId first = add(unfinished);
  IngestBatch whole = log_in("b");
  whole.summary.status = parser::RunStatus::complete;
  whole.listed.marks = {parser::RunMark::proxy};
  const RunId marked = add(whole);
  EXPECT_THAT(copies_of({first, marked}), UnorderedElementsAre(Pair(marked, first)));
  whole.relative_path = "c/log.out";
  whole.listed.marks = {};
  const RunId counted = add(whole);
  EXPECT_THAT(copies_of({first, marked, counted}),
              UnorderedElementsAre(Pair(first, counted), Pair(marked, counted)));
}

TEST_F(LogCopies, AreOfTheRunThatSaysWhatItTrained) {
  IngestBatch nameless = log_in("copied");
  nameless.configuration = {};
  const RunId copied = add(nameless);
  IngestBatch named = log_in("own");
  named.configuration = {};
  named.configuration.set("workload", "pretrain_grok1", parser::ConfigSource::llmb_config);
  named.configuration.set("gpu_count", "512", parser::ConfigSource::llmb_config);
  const RunId own = add(named);
  EXPECT_THAT(copies_of({copied, own}), UnorderedElementsAre(Pair(copied, own)));
}

TEST_F(LogCopies, AreAllToldOfOneRun) {
  IngestBatch unfinished = log_in("a");
  unfinished.summary.status = parser::RunStatus::incomplete;
  const RunId first = add(unfinished);
  IngestBatch whole = log_in("b");
  whole.summary.status = parser::RunStatus::complete;
  const RunId counted = add(whole);
  IngestBatch longer = log_in("longer");
  ++longer.size_bytes;
  const RunId other = add(longer);
  Reader reader(database_.path());
  EXPECT_THAT(reader.runs_that_look_like(first), ElementsAre(counted, first));
  EXPECT_THAT(reader.runs_that_look_like(counted), ElementsAre(counted, first));
  EXPECT_THAT(reader.runs_that_look_like(other), ElementsAre(other));
  EXPECT_THAT(reader.runs_that_look_like(other + 1), IsEmpty());
}

TEST_F(LogCopies, AreNeitherSupersededNorOfSuchARun) {
  const RunId superseded = add(log_in("a"));
  IngestBatch rewritten = log_in("a");
  rewritten.generation = 1;
  rewritten.summary.step_time_s.reset();
  add(rewritten);
  const RunId first = add(log_in("b"));
  const RunId copy = add(log_in("c"));
  EXPECT_THAT(copies_of({superseded, first, copy}), UnorderedElementsAre(Pair(copy, first)));
}

// An OOM before the first step, say.
TEST_F(LogCopies, AreOfTheSameJobWhereNoStepWasTimed) {
  const auto untimed = [&](const std::string& folder, std::int64_t job) {
    IngestBatch batch = log_in(folder);
    batch.summary.step_time_s.reset();
    batch.path.job_id = job;
    return batch;
  };
  const RunId first = add(untimed("a", 7));
  const RunId copy = add(untimed("b", 7));
  const RunId of_another_job = add(untimed("c", 8));
  IngestBatch longer = untimed("d", 7);
  ++longer.size_bytes;
  const RunId of_another_length = add(longer);
  IngestBatch timed = log_in("e");
  timed.path.job_id = 7;
  const RunId with_steps = add(timed);
  EXPECT_THAT(copies_of({first, copy, of_another_job, of_another_length, with_steps}),
              UnorderedElementsAre(Pair(copy, first)));
  Reader reader(database_.path());
  EXPECT_THAT(reader.runs_that_look_like(copy), ElementsAre(first, copy));
  EXPECT_THAT(reader.runs_that_look_like(of_another_job), ElementsAre(of_another_job));
  EXPECT_THAT(reader.runs_that_look_like(with_steps), ElementsAre(with_steps));
}

// Else a list would look at all runs for each of its own.
TEST(LogCopyPlans, SearchTheIndexesOfMeanStepTimesAndJobs) {
  const TemporaryDatabase database;
  const Writer writer(database.options());
  SqliteConnection connection(database.path(), SqliteConnection::Mode::read_only);
  Statement explain(connection, "EXPLAIN QUERY PLAN " + likely_copies_sql(sqlite_dialect()));
  std::vector<std::string> lines;
  while (explain.step()) {
    for (int i = 0; i < 3; ++i) explain.read_integer();  // id, parent, notused
    lines.push_back(explain.read_text());
  }
  EXPECT_THAT(lines, Contains(HasSubstr("SEARCH near USING INDEX run_step_time_s_mean")));
  EXPECT_THAT(lines, Contains(HasSubstr("SEARCH near USING INDEX run_job_id")));
  EXPECT_THAT(lines, Contains(HasSubstr("SEARCH run USING INTEGER PRIMARY KEY")));
  for (const std::string& line : lines) EXPECT_FALSE(line.starts_with("SCAN run")) << line;
}

}  // namespace
}  // namespace llmb::storage
