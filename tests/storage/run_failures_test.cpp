// What ended runs, counted: against a slow oracle that looks at each run, and how SQLite does it.
#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "parser/dialects/failure_class.h"
#include "storage/copied_runs.h"
#include "storage/database.h"
#include "storage/run_failures.h"
#include "storage/sqlite_connection.h"
#include "storage/sqlite_dialect.h"
#include "storage/tail_state.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using parser::RunStatus;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

IngestBatch ended_batch(RootId root, int number, RunStatus status, const std::string& cause,
                        const std::string& launched_at) {
  IngestBatch batch = make_batch(root, "runs/" + std::to_string(number) + ".out");
  batch.path.launched_at = launched_at;
  batch.summary.status = status;
  batch.summary.failure_cause = cause;
  return batch;
}

class FailureCounting : public testing::Test {
 protected:
  void write(IngestBatch batch) { writer_.commit({&batch, 1}); }

  FailureCounts counts(const RunFilter& filter = {}) const {
    return Reader(database_.path()).failure_counts(filter);
  }

  const TemporaryDatabase database_;
  Writer writer_{database_.options()};
  const RootId root_ = writer_.upsert_root("/logs", "");
};

using Group = std::tuple<RunStatus, std::string, std::string, std::string>;

std::map<Group, CountedRuns> grouped(const FailureCounts& counts) {
  std::map<Group, CountedRuns> groups;
  for (const EndedRuns& ended : counts.ended) {
    const auto [place, is_new] = groups.emplace(
        Group(ended.status, ended.cause, ended.cluster.value_or("-"), ended.day), ended.counted);
    EXPECT_TRUE(is_new);
  }
  return groups;
}

TEST_F(FailureCounting, CountsEachRunOnceAndNamesTheNewest) {
  const RunStatus statuses[] = {RunStatus::complete, RunStatus::failed, RunStatus::incomplete,
                                RunStatus::running, RunStatus::invalid};
  std::map<Group, CountedRuns> expected;
  for (int i = 0; i < 120; ++i) {
    const RunStatus status = statuses[i % 5];
    const bool has_cause = status == RunStatus::failed || i % 3 == 0;
    const bool is_complete = status == RunStatus::complete;
    const std::string cause = is_complete || !has_cause ? "" : (i % 2 == 0 ? "cuda_oom" : "hung");
    const std::string day = "2026-01-0" + std::to_string(1 + i % 7);
    auto batch = ended_batch(root_, i, status, cause, day + "T00:00:00Z");
    const std::string cluster = i % 4 == 0 ? "-" : "c" + std::to_string(i % 4);
    if (cluster != "-") {
      batch.configuration.set("cluster", cluster, parser::ConfigSource::llmb_config);
    }
    const RunId run = writer_.commit({&batch, 1}).at(0);
    if (status == RunStatus::running && cause.empty()) continue;
    expected[{status, cause, cluster, day}].add({1, run, day + "T00:00:00Z"});
  }
  EXPECT_EQ(grouped(counts()), expected);
  RunFilter filter;
  filter.cluster = {"c1"};
  filter.since = "2026-01-03";
  std::erase_if(expected, [](const auto& entry) {
    return std::get<2>(entry.first) != "c1" || std::get<3>(entry.first) < "2026-01-03";
  });
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(grouped(counts(filter)), expected);
}

// Which is told by the number of the id, not by its text.
TEST_F(FailureCounting, TakesTheLastStoredOfThoseThatBeganAtOnce) {
  std::vector<IngestBatch> batches;
  for (int i = 0; i < 12; ++i) {
    batches.push_back(ended_batch(root_, i, RunStatus::failed, "hung", "2026-01-01T00:00:00Z"));
  }
  const RunId last = writer_.commit(batches).back();
  ASSERT_GT(std::to_string(last).size(), 1U);
  ASSERT_EQ(counts().ended.size(), 1U);
  EXPECT_EQ(counts().ended[0].counted, (CountedRuns{12, last, "2026-01-01T00:00:00Z"}));
}

TEST_F(FailureCounting, LeavesOutWhatRunsAndWhatIsSuperseded) {
  write(ended_batch(root_, 1, RunStatus::running, "", "2026-01-01T00:00:00Z"));
  write(ended_batch(root_, 2, RunStatus::failed, "cuda_oom", "2026-01-01T00:00:00Z"));
  auto again = ended_batch(root_, 2, RunStatus::complete, "", "2026-01-01T00:00:00Z");
  again.generation = 1;
  write(again);
  const auto found = counts().ended;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].status, RunStatus::complete);
}

TEST_F(FailureCounting, KeepsRunsThatDidAllTheirStepsApart) {
  write(ended_batch(root_, 1, RunStatus::incomplete, "", "2026-01-01T00:00:00Z"));
  auto traced = ended_batch(root_, 2, RunStatus::incomplete, "", "2026-01-01T00:00:00Z");
  traced.listed.has_run_all_steps = true;
  traced.listed.marks = {parser::RunMark::traced};
  write(traced);
  std::map<bool, std::int64_t> runs;
  for (const EndedRuns& ended : counts().ended) {
    runs[ended.have_run_all_steps] += ended.counted.runs;
  }
  EXPECT_EQ(runs, (std::map<bool, std::int64_t>{{false, 1}, {true, 1}}));
}

TEST_F(FailureCounting, TakesRunsWithoutACauseWhereItIsAskedFor) {
  write(ended_batch(root_, 1, RunStatus::incomplete, "", "2026-01-01T00:00:00Z"));
  write(ended_batch(root_, 2, RunStatus::incomplete, "hung", "2026-01-01T00:00:00Z"));
  RunFilter without;
  without.failure_cause = {""};
  ASSERT_EQ(counts(without).ended.size(), 1U);
  EXPECT_EQ(counts(without).ended[0].cause, "");
}

class FailuresOfCopies : public FailureCounting {
 protected:
  // Run `number` of a log that others may have, too; all of them begin and end alike.
  RunId add_log(int number, std::uint64_t bytes, std::optional<double> mean, std::int64_t steps,
                const std::string& cause = "cuda_oom", std::optional<std::int64_t> job = 7) {
    auto batch = ended_batch(root_, number, cause.empty() ? RunStatus::complete : RunStatus::failed,
                             cause, "2026-01-01T00:00:00Z");
    if (mean) {
      batch.summary.step_time_s = parser::WindowStatistics{steps, *mean, 0.2, 0.3, 7, 6, 8, 7};
    } else {
      batch.summary.step_time_s.reset();
    }
    batch.size_bytes = 10'000;
    batch.path.job_id = job;
    batch.cursor.head_hash = 0xFFFFFFFFFFFFFFFFULL;
    batch.cursor.head_length = 1'024;
    batch.cursor.tail_hash = 0xFFFFFFFFFFFFFFFEULL;
    const TailState state{INT64_MIN, UINT64_MAX, UINT64_MAX - bytes,
                          "the reader's"};  // of as many digits as it can have
    batch.cursor.parser_state = encode_tail_state(state);
    if (!cause.empty()) {
      batch.facts.events.push_back({parser::LogEvent::Kind::failure, cause, "line", 1, 0});
    }
    return writer_.commit({&batch, 1}).at(0);
  }

  std::int64_t ended(const RunFilter& filter = {}) const {
    std::int64_t runs = 0;
    for (const EndedRuns& some : counts(filter).ended) runs += some.counted.runs;
    return runs;
  }
};

TEST_F(FailuresOfCopies, CountOnce) {
  const RunId first = add_log(1, 1, 7.5, 30);
  add_log(2, 1, 7.5, 30);
  const RunId untimed = add_log(3, 2, std::nullopt, 0);
  add_log(4, 2, std::nullopt, 0);
  add_log(5, 3, 8.5, 30, "");
  add_log(6, 3, 8.5, 30, "");
  EXPECT_EQ(ended(), 3);
  const auto lines = counts().lines;
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].run, first);
  EXPECT_EQ(lines[1].run, untimed);
}

TEST_F(FailuresOfCopies, AreNoneOfLogsThatDiffer) {
  add_log(1, 1, 7.5, 2);
  add_log(2, 2, 7.5, 2);  // of few steps their bytes tell
  add_log(3, 1, std::nullopt, 0);
  add_log(4, 2, std::nullopt, 0);
  add_log(5, 1, 7.6, 30);
  EXPECT_EQ(ended(), 5);
}

// Of those that match: the first of all may be another's.
TEST_F(FailuresOfCopies, CountWhereTheFirstDoesNotMatch) {
  add_log(1, 1, 7.5, 30);
  const RunId second = add_log(2, 1, 7.5, 30);
  RunFilter newer;
  newer.failure_cause = {"cuda_oom"};
  EXPECT_EQ(ended(newer), 1);
  auto other = ended_batch(root_, 1, RunStatus::complete, "", "2026-01-01T00:00:00Z");
  other.generation = 1;  // the first log was written anew
  write(other);
  EXPECT_EQ(ended(newer), 1);
  EXPECT_EQ(counts(newer).ended[0].counted.newest_run, second);
}

// Jobs that die before a step say the same, and each has failed.
TEST_F(FailuresOfCopies, AreNoneOfTwoJobsWithTheSameShortText) {
  add_log(1, 1, std::nullopt, 0, "cuda_oom", 1);
  add_log(2, 1, std::nullopt, 0, "cuda_oom", 2);
  add_log(3, 1, std::nullopt, 0, "cuda_oom", std::nullopt);
  add_log(4, 1, std::nullopt, 0, "cuda_oom", std::nullopt);
  EXPECT_EQ(ended(), 4);
  add_log(5, 2, 7.5, 2, "cuda_oom", 1);  // what was timed is no other job's
  add_log(6, 2, 7.5, 2, "cuda_oom", 2);
  EXPECT_EQ(ended(), 5);
}

// More than are looked at one by one: they are found by what they have in common, and judged alike.
TEST_F(FailuresOfCopies, CountAmongManyAsAmongFew) {
  add_log(1, 1, 17.5, 30);
  add_log(2, 1, 17.5, 30);
  add_log(3, 2, std::nullopt, 0);
  add_log(4, 2, std::nullopt, 0);
  add_log(5, 2, std::nullopt, 0, "cuda_oom", 8);
  add_log(6, 3, std::nullopt, 0);
  EXPECT_EQ(ended(), 4);
  constexpr int kLogs = 2'500;
  std::vector<IngestBatch> batches;
  for (int i = 0; i < kLogs; ++i) {
    auto batch = ended_batch(root_, 10 + i, RunStatus::complete, "", "2026-01-01T00:00:00Z");
    batch.summary.step_time_s = parser::WindowStatistics{30, 5 + 0.001 * i, 0, 0, 7, 6, 8, 7};
    batch.path.job_id = 100 + i;
    batches.push_back(std::move(batch));
  }
  writer_.commit(batches);
  EXPECT_EQ(ended(), kLogs + 4);
}

class FailureLines : public FailureCounting {
 protected:
  using Event = std::pair<std::string_view, std::string>;  // cause, line

  // Those of task_killed; as of a run that ended by it.
  std::vector<std::string> lines_of(const std::vector<Event>& events) {
    auto batch =
        ended_batch(root_, ++number_, RunStatus::failed, "task_killed", "2026-01-01T00:00:00Z");
    for (const auto& [cause, line] : events) {
      batch.facts.events.push_back(
          {parser::LogEvent::Kind::failure, std::string(cause), line, 1, 0});
    }
    const RunId run = writer_.commit({&batch, 1}).at(0);
    std::vector<std::string> lines;
    for (const FailureLine& line : counts().lines) {
      if (line.run != run) continue;
      EXPECT_EQ(line.cause, "task_killed");
      EXPECT_EQ(line.began_at, "2026-01-01T00:00:00Z");
      lines.push_back(line.line);
    }
    return lines;
  }

 private:
  int number_ = 0;
};

TEST_F(FailureLines, AreTheFirstOfTheCause) {
  EXPECT_THAT(lines_of({{"task_exited", "n6"}, {"task_killed", "n5"}, {"task_killed", "n7"}}),
              ElementsAre("n5"));
  EXPECT_THAT(lines_of({{"task_killed", "n8"}}), ElementsAre("n8"));
  EXPECT_THAT(lines_of({{"task_exited", "n6"}}), testing::IsEmpty());
  EXPECT_TRUE(counts().lines_are_of_all);
}

// What was overcome accuses no node.
TEST_F(FailureLines, AreOfTheAttemptThatEndedTheRun) {
  for (const std::string_view anew : {parser::kRestarted, parser::kWentOn}) {
    EXPECT_THAT(lines_of({{"task_killed", "n1"}, {anew, "again"}, {"task_killed", "n2"}}),
                ElementsAre("n2"));
  }
  // The last attempt says nothing of why it ended.
  EXPECT_THAT(lines_of({{"task_killed", "n1"}, {parser::kRestarted, ""}, {"task_exited", "n2"}}),
              ElementsAre("n1"));
}

// By what else its attempt says; what was said before or after is of another failure.
TEST_F(FailureLines, NameTheNodeThatTheirAttemptNames) {
  auto batch = ended_batch(root_, 1, RunStatus::failed, "cuda_oom", "2026-01-01T00:00:00Z");
  const auto add = [&](std::string_view cause, const char* line, std::int64_t rank) {
    batch.facts.events.push_back(
        {parser::LogEvent::Kind::failure, std::string(cause), line, 1, 0, rank});
  };
  add("task_exited", "srun: error: gpu-01: tasks 0-31: Exited with exit code 1", 1);
  add(parser::kRestarted, "again", 1);
  add("python_traceback", "head", 19);
  add("cuda_oom", "first", 19);
  add("cuda_oom", "second", 20);
  add("task_exited", "srun: error: gpu-03: tasks 16-23: Exited with exit code 1", 3);
  write(batch);
  const FailureCounts found = counts();
  ASSERT_EQ(found.lines.size(), 1U);
  EXPECT_EQ(found.lines[0].line, "first");
  EXPECT_EQ(found.lines[0].node, "gpu-03");
}

class FailurePlans : public testing::Test {
 protected:
  std::string plan_of(const std::string& sql) const {
    SqliteConnection connection(database_.path(), SqliteConnection::Mode::read_only);
    Statement explain(connection, "EXPLAIN QUERY PLAN " + sql);
    std::string lines;
    while (explain.step()) {
      for (int i = 0; i < 3; ++i) explain.read_integer();  // id, parent, notused
      lines += explain.read_text() + "\n";
    }
    return lines;
  }

  const TemporaryDatabase database_;
  const Writer writer_{database_.options()};
};

// Else it would read the row of each run, which is ten times as much.
TEST_F(FailurePlans, ReadTheIndexThatCoversTheFilters) {
  RunFilter some;
  some.workload = {"x"};
  some.gpu_type = {"y"};
  some.since = "2026";
  for (const RunFilter& filter : {RunFilter(), some}) {
    for (const std::string& sql : failures_sql(sqlite_dialect(), filter)) {
      EXPECT_THAT(plan_of(sql), HasSubstr("COVERING INDEX run_filter")) << sql;
    }
    const auto copies = copied_runs_sql(sqlite_dialect(), filter);
    const std::vector<std::string> indexes = {"run_step_time_s_mean", "run_job_id"};
    ASSERT_EQ(copies.size(), indexes.size());
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const std::string plan = plan_of(copies[i]);
      EXPECT_THAT(plan, HasSubstr("SEARCH run USING INDEX " + indexes[i]));
      EXPECT_THAT(plan, HasSubstr("SEARCH run USING COVERING INDEX " + indexes[i]));
    }
  }
}

}  // namespace
}  // namespace llmb::storage
