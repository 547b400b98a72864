#include "server/report/run_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "server/report/comparison_report.h"

namespace llmb::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

parser::ComparedRun run_of(const std::string& experiment, const std::string& cluster,
                           std::int64_t job) {
  parser::ComparedRun run;
  run.experiment = experiment;
  run.cluster = cluster;
  run.job_id = job;
  run.path = "/tree/" + cluster + "/" + experiment + "/" + std::to_string(job) + ".out";
  return run;
}

TEST(RunNames, SayInWhatRunsOfOneNameDiffer) {
  std::vector<parser::ComparedRun> runs = {run_of("a", "alpha", 1), run_of("a", "beta", 1),
                                           run_of("a", "beta", 2), run_of("b", "alpha", 1)};
  EXPECT_THAT(distinct_run_names(runs),
              ElementsAre("a (alpha, job 1)", "a (beta, job 1)", "a (beta, job 2)", "b"));
  runs[2].job_id = 1;
  runs[2].configuration.set("release", "25.05", parser::ConfigSource::llmb_config);
  EXPECT_EQ(distinct_run_names(runs)[2], "a (beta, release 25.05)");
}

TEST(RunNames, SayWhereRunsLieThatDifferInNothingElse) {
  std::vector<parser::ComparedRun> runs = {run_of("a", "alpha", 1), run_of("a", "beta", 2)};
  for (parser::ComparedRun& run : runs) {
    run.cluster.reset();
    run.job_id.reset();
  }
  EXPECT_THAT(distinct_run_names(runs), ElementsAre("a (alpha/a/1.out)", "a (beta/a/2.out)"));
}

TEST(RunNames, AreThoseOfAComparisonsTable) {
  ComparedSet set;
  set.runs = {run_of("a", "alpha", 1), run_of("a", "beta", 1)};
  set.comparison = parser::compare_runs(set.runs, {});
  std::ostringstream out;
  write_comparison_table({set}, out);
  EXPECT_THAT(out.str(), HasSubstr("a (alpha)"));
  EXPECT_THAT(out.str(), HasSubstr("a (beta)"));
}

}  // namespace
}  // namespace llmb::report
