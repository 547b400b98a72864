// How SQLite answers the lists: along the indexes that are there for them, and without sorting.
#include <gmock/gmock.h>

#include "storage/database.h"
#include "storage/run_list.h"
#include "tests/storage/temporary_database.h"

namespace llmb::storage {
namespace {

using testing::AllOf;
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
  const auto add = [&](const char* name, bool is_covered, auto field, auto value) {
    filters.push_back({name, {}, is_covered});
    filters.back().filter.*field = value;
  };
  add("experiment", true, &RunFilter::experiment, "x");
  add("job_id", false, &RunFilter::job_id, 1);
  add("text", false, &RunFilter::text, "x");
  add("workload", true, &RunFilter::workload, "x");
  add("model_size", true, &RunFilter::model_size, "x");
  add("dtype", true, &RunFilter::dtype, "x");
  add("gpu_type", true, &RunFilter::gpu_type, "x");
  add("gpu_count", true, &RunFilter::gpu_count, 1);
  add("release", true, &RunFilter::release, "x");
  add("cluster", true, &RunFilter::cluster, "x");
  add("status", true, &RunFilter::status, parser::RunStatus::complete);
  add("since", true, &RunFilter::since, "2026");
  add("root_id", true, &RunFilter::root_id, 1);
  add("include_superseded", true, &RunFilter::include_superseded, true);
  NamedFilter all{"all that run_filter covers", {}, true};
  for (const NamedFilter& one : filters) {
    if (!one.is_covered) continue;
    for (auto field :
         {&RunFilter::workload, &RunFilter::model_size, &RunFilter::dtype, &RunFilter::gpu_type,
          &RunFilter::release, &RunFilter::cluster, &RunFilter::since}) {
      if (one.filter.*field) all.filter.*field = one.filter.*field;
    }
    if (one.filter.gpu_count) all.filter.gpu_count = one.filter.gpu_count;
    if (one.filter.root_id) all.filter.root_id = one.filter.root_id;
    if (one.filter.status) all.filter.status = one.filter.status;
  }
  filters.push_back(all);
  return filters;
}

class RunListPlans : public testing::Test {
 protected:
  RunListPlans() { const Writer writer(database_.options()); }

  std::vector<std::string> plan_of(const std::string& sql) const {
    Connection connection(database_.path(), Connection::Mode::read_only);
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
        for (const std::string& sql : walk_sql(query)) {
          EXPECT_THAT(plan_of(sql), ElementsAre(AllOf(HasSubstr(index), Not(HasSubstr("TEMP")))))
              << run_sort_key_name(key) << " filtered by " << named.name << ": " << sql;
        }
      }
    }
  }
}

TEST_F(RunListPlans, CountsReadNoRowForWhatTheIndexHolds) {
  for (const NamedFilter& named : all_filters()) {
    const auto plan = plan_of(count_sql(named.filter));
    ASSERT_THAT(plan, SizeIs(1)) << named.name;
    const bool is_covered = plan[0].find("USING COVERING INDEX") != std::string::npos;
    EXPECT_EQ(is_covered, named.is_covered) << named.name << ": " << plan[0];
  }
  EXPECT_THAT(plan_of(count_sql(all_filters().back().filter)), Each(HasSubstr("(workload=?)")));
}

TEST_F(RunListPlans, AJobsOrAnExperimentsRunsAreFoundByItsIndex) {
  RunFilter filter = all_filters().back().filter;
  filter.experiment = "x";
  EXPECT_THAT(plan_of(count_sql(filter)), ElementsAre(HasSubstr("(experiment=?)")));
  filter.job_id = 1;
  EXPECT_THAT(plan_of(count_sql(filter)), ElementsAre(HasSubstr("(job_id=?)")));
}

TEST_F(RunListPlans, ExperimentsReadOneIndexInItsOrder) {
  for (const NamedFilter& named : all_filters()) {
    const auto plan = plan_of(experiments_sql(named.filter));
    ASSERT_FALSE(plan.empty());
    EXPECT_THAT(plan[0], HasSubstr("USING COVERING INDEX run_of_experiment")) << named.name;
    EXPECT_THAT(plan, Each(Not(HasSubstr("TEMP")))) << named.name;
  }
}

}  // namespace
}  // namespace llmb::storage
