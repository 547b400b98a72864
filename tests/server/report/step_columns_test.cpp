#include "server/report/step_columns.h"

#include <gtest/gtest.h>

#include <limits>

#include "server/report/json.h"

namespace llmb::report {
namespace {

TEST(StepColumns, CountsWhatItHasNoColumnFor) {
  StepColumns columns;
  parser::StepSample sample;
  for (int i = 0; i < 70; ++i) sample.extra_fields.emplace_back("f" + std::to_string(i), i);
  columns.add(sample);
  sample.iteration = 1;
  sample.extra_fields = {{"f0", 1.0}, {"f0", 2.0}, {"f1", std::numeric_limits<double>::infinity()}};
  columns.add(sample);
  const Json json = Json::parse(columns.finish(3));
  EXPECT_EQ(json["extra_fields"].size(), StepColumns::kExtraFieldsMax);
  EXPECT_EQ(json["extra_values_left_out"], 6);
  EXPECT_EQ(json["extra_fields"]["f0"], Json::parse("[0.0,1.0]"));
  EXPECT_EQ(json["extra_fields"]["f1"], Json::parse("[1.0,null]"));
  EXPECT_EQ(json["extra_fields"]["f63"], Json::parse("[63.0,null]"));
}

TEST(StepColumns, HoldsNoRowsAsEmptyColumns) {
  StepColumns columns;
  EXPECT_EQ(columns.finish(1),
            R"({"run_id":1,"segment":[],"iteration":[],"step_time_s":[],"tflops_per_gpu":[],)"
            R"("extra_fields":{},"extra_values_left_out":0})");
}

TEST(StepColumns, NamesWhatAStepsTimeHoldsBesideTraining) {
  StepColumns columns;
  parser::StepSample sample;
  columns.add(sample);
  sample.extra_fields = {{"is_profiled", 1.0}, {"timing_s/save_checkpoint", 0.5}};
  columns.add(sample);
  sample.extra_fields = {{"after_evaluation", 0.0}};
  columns.add(sample);
  const Json json = Json::parse(columns.finish(1));
  EXPECT_EQ(json["interruptions"], Json::parse(R"([null,"checkpoint,profile",null])"));
}

TEST(StepColumns, KeepsEveryDigit) {
  StepColumns columns;
  parser::StepSample sample;
  sample.iteration = std::numeric_limits<std::int64_t>::max();
  sample.step_time_s = 0.1 + 0.2;
  sample.learning_rate = 5e-324;
  columns.add(sample);
  const Json json = Json::parse(columns.finish(1));
  EXPECT_EQ(json["iteration"][0], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(json["step_time_s"][0].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json["learning_rate"][0].get<double>(), 5e-324);
}

}  // namespace
}  // namespace llmb::report
