#include "server/report/comparison_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "server/report/json.h"

namespace llmb::report {
namespace {

TEST(ComparisonJson, HasTheDriftOfEachSide) {
  std::vector<parser::ComparedRun> runs;
  parser::ComparisonOptions options;
  for (int i = 0; i < 8; ++i) {
    parser::ComparedRun& run = runs.emplace_back();
    const bool is_other = i % 2 == 1;
    const double step_time_s = is_other ? 2.7 : 2.7 * std::exp(0.01 * i);
    run.id = i + 1;
    if (i != 1) run.job_id = 100 + i;
    run.dialect = parser::Dialect::nemo;
    run.judgement.summary.status = parser::RunStatus::complete;
    run.judgement.summary.window = {11, 44};
    run.judgement.summary.step_time_s = {34,          step_time_s, 0,           0,
                                         step_time_s, step_time_s, step_time_s, step_time_s};
    options.sides.push_back(is_other ? 1 : 0);
  }
  const Json answer = comparison_json(runs, parser::compare_runs(runs, options));
  const Json& metric = answer.at("comparisons").at(0).at("metrics").at("step_time_s");
  const Json& drifts = metric.at("side_drifts");
  EXPECT_NEAR(drifts.at("baseline").at("change_per_run").get<double>(), std::expm1(0.02), 1e-9);
  EXPECT_NEAR(drifts.at("baseline").at("change").get<double>(), std::expm1(0.06), 1e-9);
  EXPECT_LT(drifts.at("baseline").at("p_value").get<double>(), 0.025);
  EXPECT_EQ(drifts.at("other"), nullptr) << "when one of its runs was started is not known";
  EXPECT_EQ(metric.at("start_drift"), nullptr);
  const Json& barred = answer.at("comparisons").at(0).at("metrics").at("tokens_per_s_per_gpu");
  EXPECT_EQ(barred.at("side_drifts"), nullptr);
}

}  // namespace
}  // namespace llmb::report
