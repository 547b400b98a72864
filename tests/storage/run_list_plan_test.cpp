// How SQLite answers the lists: along the indexes that are there for them, and without sorting.
#include <gmock/gmock.h>

#include "storage/database.h"
#include "storage/run_combinations.h"
#include "storage/run_list.h"
#include "storage/run_versions.h"
#include "storage/sqlite_connection.h"
#include "storage/sqlite_dialect.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

struct SortIndex {
  RunSortKey key;
  const char* index;  // as EXPLAIN QUERY PLAN has it
};
constexpr SortIndex kSortIndexes[] = {
    {RunSortKey::id, "run"},  // the table itself
    {RunSortKey::launched_at, "INDEX run_began_at"},
    {RunSortKey::grown_at, "INDEX run_grown_at"},
    {RunSortKey::experiment, "INDEX run_experiment"},
    {RunSortKey::status, "INDEX run_status"},
    {RunSortKey::gpu_count, "INDEX run_gpu_count"},
    {RunSortKey::step_time_s_mean, "INDEX run_step_time_s_mean"},
    {RunSortKey::step_time_s_stddev_sample, "INDEX run_step_time_s_stddev_sample"},
    {RunSortKey::step_time_s_median, "INDEX run_step_time_s_median"},
    {RunSortKey::step_time_s_p95, "INDEX run_step_time_s_p95"},
    {RunSortKey::tflops_per_gpu_mean, "INDEX run_tflops_per_gpu_mean"},
    {RunSortKey::tokens_per_s_per_gpu, "INDEX run_tokens_per_s_per_gpu"},
    {RunSortKey::mfu, "INDEX run_mfu"},
    {RunSortKey::speed_against_reference, "INDEX run_speed_against_reference"},
    {RunSortKey::failure_cause, "INDEX run_cause_or_null"},
    {RunSortKey::last_iteration, "INDEX run_last_iteration"},
    {RunSortKey::step_count, "INDEX run_step_count"},
};

struct NamedFilter {
  const char* name;
  RunFilter filter;
  bool is_covered;  // by an index
};

std::vector<NamedFilter> all_filters() {
  std::vector<NamedFilter> filters = {{"none", {}, true}};
  const auto add = [&](const char* name, bool is_covered, auto change) {
    filters.push_back({name, {}, is_covered});
    change(filters.back().filter);
  };
  using F = RunFilter;
  add("experiment", true, [](F& filter) { filter.experiment = {"x"}; });
  add("experiments", true, [](F& filter) { filter.experiment = {"x", "y"}; });
  add("job_id", false, [](F& filter) { filter.job_id = {1}; });
  add("text", false, [](F& filter) { filter.text = "x"; });
  NamedFilter all{"all that run_filter covers", {}, true};
  const auto add_covered = [&](const char* name, auto change) {
    add(name, true, change);
    change(all.filter);
  };
  add_covered("statuses", [](F& filter) {
    filter.status = {parser::RunStatus::complete, parser::RunStatus::failed};
  });
  add_covered("workload", [](F& filter) { filter.workload = {"x"}; });
  add_covered("model_size", [](F& filter) { filter.model_size = {"x"}; });
  add_covered("dtypes", [](F& filter) { filter.dtype = {"x", "y"}; });
  add_covered("gpu_type", [](F& filter) { filter.gpu_type = {"x"}; });
  add_covered("gpu_count", [](F& filter) { filter.gpu_count = {1}; });
  add_covered("release", [](F& filter) { filter.release = {"x"}; });
  add_covered("cluster", [](F& filter) { filter.cluster = {"x"}; });
  add_covered("status", [](F& filter) { filter.status = {parser::RunStatus::complete}; });
  add_covered("ended badly", [](F& filter) { filter.ended_badly = true; });
  add_covered("since", [](F& filter) { filter.since = "2026"; });
  add_covered("before", [](F& filter) { filter.before = "2026"; });
  add_covered("root_id", [](F& filter) { filter.root_id = {1}; });
  add_covered("failure_cause", [](F& filter) { filter.failure_cause = {"x"}; });
  add_covered("marks", [](F& filter) { filter.marks = {parser::RunMark::traced}; });
  add_covered("speed", [](F& filter) { filter.speed_against_reference.at_most = 0.95; });
  add_covered("MFU", [](F& filter) { filter.mfu.at_least = 0.3; });
  add_covered("tokens", [](F& filter) { filter.tokens_per_s_per_gpu.at_least = 3; });
  add("include_superseded", true, [](F& filter) { filter.include_superseded = true; });
  filters.push_back(all);
  return filters;
}

class RunListPlans : public testing::Test {
 protected:
  RunListPlans() { const Writer writer(database_.options()); }

  std::vector<std::string> plan_of(const std::string& sql) const {
    SqliteConnection connection(database_.path(), SqliteConnection::Mode::read_only);
    Statement explain(connection, "EXPLAIN QUERY PLAN " + sql);
    std::vector<std::string> lines;
    while (explain.step()) {
      for (int i = 0; i < 3; ++i) explain.read_integer();  // id, parent, notused
      lines.push_back(explain.read_text());
    }
    return lines;
  }

  const TemporaryDatabase database_;
};

TEST_F(RunListPlans, EveryOrderWalksItsIndexAndSortsNothing) {
  for (const auto& [key, index] : kSortIndexes) {
    for (const NamedFilter& named : all_filters()) {
      for (const bool is_first_page : {true, false}) {
        RunQuery query;
        query.filter = named.filter;
        query.sort = key;
        query.descending = is_first_page;
        if (!is_first_page) query.after = RunKeyset{"1", 1};
        for (const std::string& sql : walk_sql(sqlite_dialect(), query)) {
          EXPECT_THAT(plan_of(sql), ElementsAre(AllOf(HasSubstr(index), Not(HasSubstr("TEMP")))))
              << run_sort_key_name(key) << " filtered by " << named.name << ": " << sql;
        }
      }
    }
  }
}

// Else it would look at all that follow, or at all that share a value with the first or the last.
TEST_F(RunListPlans, AWalkBeginsAndEndsAtItsRuns) {
  const auto is_one_value = testing::AnyOf(HasSubstr("=? AND rowid"), HasSubstr("=? AND id"));
  for (const auto& [key, index] : kSortIndexes) {
    for (const bool descending : {true, false}) {
      RunQuery query;
      query.filter.gpu_type = {"x"};
      query.sort = key;
      query.descending = descending;
      query.after = RunKeyset{"1", 1};
      const bool has_ties = key != RunSortKey::id;
      const auto begins = testing::AnyOf(is_one_value, HasSubstr(descending ? "<?" : ">?"));
      const std::vector<std::string> walk = walk_sql(sqlite_dialect(), query);
      for (std::size_t i = 0; i < (has_ties ? 5U : 2U); ++i) {
        EXPECT_THAT(plan_of(walk.at(i)), ElementsAre(AllOf(HasSubstr(index), begins))) << walk[i];
      }
      const auto ends = testing::AnyOf(is_one_value, AllOf(HasSubstr("<?"), HasSubstr(">?")));
      for (const std::string& sql : ended_walk_sql(sqlite_dialect(), query, {"2", 2})) {
        const auto plan = plan_of(sql);
        if (has_ties) {
          EXPECT_THAT(plan, ElementsAre(AllOf(HasSubstr(index), ends))) << sql;
        } else {
          EXPECT_THAT(plan, ElementsAre(ends)) << sql;
        }
      }
      query.after.reset();
      for (const std::string& sql : ended_walk_sql(sqlite_dialect(), query, {"2", 2})) {
        EXPECT_THAT(plan_of(sql),
                    ElementsAre(testing::AnyOf(is_one_value, HasSubstr(descending ? ">?" : "<?"))))
            << sql;
      }
    }
  }
}

TEST_F(RunListPlans, TheNewestVersionsAreWalkedToOrFoundByTheFilter) {
  const RunFilter filter = all_filters().back().filter;
  EXPECT_THAT(plan_of(newest_sql(sqlite_dialect(), filter, NewestWay::walked)),
              ElementsAre(AllOf(HasSubstr("run_began_at"), Not(HasSubstr("TEMP")))));
  EXPECT_THAT(plan_of(newest_sql(sqlite_dialect(), filter, NewestWay::sorted)),
              Contains(HasSubstr("INDEX run_filter (workload=?)")));
  EXPECT_THAT(plan_of(newest_sql(sqlite_dialect(), filter, NewestWay::all)),
              ElementsAre(HasSubstr("INDEX run_filter (workload=?)")));
}

TEST_F(RunListPlans, TheNewestOfAFilterAreSortedWithoutTheirRows) {
  RunQuery query;
  query.filter = all_filters().back().filter;
  for (const RunSortKey key : {RunSortKey::launched_at, RunSortKey::failure_cause}) {
    query.sort = key;
    EXPECT_THAT(plan_of(sorting_sql(sqlite_dialect(), query)),
                Contains(HasSubstr("USING COVERING INDEX run_filter (workload=?)")));
  }
}

// Each of them seeks where its runs begin, and ends with them.
TEST_F(RunListPlans, TheNewestOfACombinationStandInItsIndex) {
  RunQuery query;
  query.filter = all_filters().back().filter;
  for (const bool descending : {true, false}) {
    for (const bool is_first_page : {true, false}) {
      query.descending = descending;
      if (!is_first_page) query.after = RunKeyset{"2026", 7};
      for (const std::string& sql : combination_sql(sqlite_dialect(), query)) {
        EXPECT_THAT(plan_of(sql), ElementsAre(HasSubstr("run_tally USING PRIMARY KEY (key=?)"),
                                              AllOf(HasSubstr("INDEX run_filter (workload=? AND"),
                                                    HasSubstr("marks=? AND began_at"))))
            << sql;
      }
    }
  }
}

TEST_F(RunListPlans, RunsSinceATimeAreCountedInTheIndexOfEachCombination) {
  RunFilter filter;
  filter.dtype = {"x"};
  filter.since = "2026";
  EXPECT_THAT(plan_of(tally_sql(sqlite_dialect(), filter)),
              ElementsAre(HasSubstr("run_tally"), HasSubstr("SUBQUERY"),
                          HasSubstr("marks=? AND began_at>?)")));
  filter.before = "2027";
  EXPECT_THAT(plan_of(tally_sql(sqlite_dialect(), filter)),
              ElementsAre(HasSubstr("run_tally"), HasSubstr("SUBQUERY"),
                          HasSubstr("marks=? AND began_at>? AND began_at<?)")));
}

TEST_F(RunListPlans, TheNewestOfAnExperimentOrARangeAreSortedWithoutTheirRows) {
  RunQuery query;
  query.filter.experiment = {"x"};
  EXPECT_THAT(plan_of(sorting_sql(sqlite_dialect(), query)),
              Contains(HasSubstr("USING COVERING INDEX run_experiment (experiment=?)")));
  query.filter = {};
  query.filter.speed_against_reference.at_most = 0.95;
  EXPECT_THAT(plan_of(sorting_sql(sqlite_dialect(), query)),
              Contains(HasSubstr(
                  "COVERING INDEX run_speed_against_reference (speed_against_reference<?)")));
}

TEST_F(RunListPlans, CountsReadNoRowForWhatTheIndexHolds) {
  for (const NamedFilter& named : all_filters()) {
    if (named.filter.has_text()) continue;
    const std::string sql = count_sql(sqlite_dialect(), named.filter);
    const auto plan = plan_of(sql);
    ASSERT_THAT(plan, SizeIs(1)) << named.name;
    const bool is_covered = plan[0].find("USING COVERING INDEX") != std::string::npos;
    const bool is_tallied = plan[0].find("run_tally") != std::string::npos;
    EXPECT_EQ(is_covered || is_tallied, named.is_covered) << named.name << ": " << plan[0];
  }
  for (const char* const name : {"none", "statuses", "cluster", "marks", "include_superseded"}) {
    for (const NamedFilter& named : all_filters()) {
      if (std::string_view(named.name) != name) continue;
      EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), named.filter)),
                  ElementsAre(HasSubstr("run_tally")));
    }
  }
  EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), all_filters().back().filter)),
              Each(HasSubstr("(workload=?)")));
}

TEST_F(RunListPlans, ATextIsLookedForByItsTrigramsOrInAnIndexOfPaths) {
  RunFilter filter;
  filter.text = "grok";
  EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), filter)),
              AllOf(Contains(HasSubstr("SEARCH run USING INTEGER PRIMARY KEY")),
                    Contains(HasSubstr("SCAN run_text VIRTUAL TABLE INDEX"))));
  filter.text = "gr";
  EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), filter)),
              AllOf(Contains("SCAN run USING COVERING INDEX sqlite_autoindex_run_1"),
                    Contains("SCAN run USING INDEX run_named_elsewhere")));
  filter.job_id = {1};
  EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), filter)), ElementsAre(HasSubstr("(job_id=?)")));
}

TEST_F(RunListPlans, AJobsOrAnExperimentsRunsAreFoundByItsIndex) {
  RunFilter filter = all_filters().back().filter;
  filter.experiment = {"x"};
  EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), filter)),
              ElementsAre(HasSubstr("(experiment=?)")));
  filter.job_id = {1};
  EXPECT_THAT(plan_of(count_sql(sqlite_dialect(), filter)), ElementsAre(HasSubstr("(job_id=?)")));
}

TEST_F(RunListPlans, ExperimentsReadOneIndexInItsOrder) {
  for (const NamedFilter& named : all_filters()) {
    const auto plan = plan_of(experiments_sql(sqlite_dialect(), named.filter));
    ASSERT_FALSE(plan.empty());
    EXPECT_THAT(plan[0], HasSubstr("USING COVERING INDEX run_of_experiment")) << named.name;
    EXPECT_THAT(plan, Each(Not(HasSubstr("TEMP")))) << named.name;
    const auto latest = plan_of(latest_mean_sql(sqlite_dialect(), named.filter));
    ASSERT_FALSE(latest.empty());
    EXPECT_THAT(latest[0],
                HasSubstr("run_of_experiment (experiment=? AND root_id=? AND grown_at=?)"))
        << named.name;
    EXPECT_THAT(latest, Each(Not(HasSubstr("TEMP")))) << named.name;
  }
}

}  // namespace
}  // namespace llmb::storage
