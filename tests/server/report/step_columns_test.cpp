#include "server/report/step_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "server/report/json.h"

namespace llmb::report {
namespace {

const TextPacking kNoPacking = {[](std::string_view text) { return std::string(text); },
                                [](std::string_view packed) { return std::string(packed); }};

std::string document_of(StepColumns columns, storage::RunId run) {
  std::string document;
  std::move(columns).write(run, [&](std::string_view text) { document += text; });
  return document;
}

TEST(StepColumns, CountsWhatItHasNoColumnFor) {
  StepColumns columns(kNoPacking);
  parser::StepSample sample;
  for (int i = 0; i < 70; ++i) sample.extra_fields.emplace_back("f" + std::to_string(i), i);
  columns.add(sample);
  sample.iteration = 1;
  sample.extra_fields = {{"f0", 1.0}, {"f0", 2.0}, {"f1", std::numeric_limits<double>::infinity()}};
  columns.add(sample);
  const Json json = Json::parse(document_of(std::move(columns), 3));
  EXPECT_EQ(json["extra_fields"].size(), StepColumns::kExtraFieldsMax);
  EXPECT_EQ(json["extra_values_left_out"], 6);
  EXPECT_EQ(json["extra_fields"]["f0"], Json::parse("[0.0,1.0]"));
  EXPECT_EQ(json["extra_fields"]["f1"], Json::parse("[1.0,null]"));
  EXPECT_EQ(json["extra_fields"]["f63"], Json::parse("[63.0,null]"));
}

TEST(StepColumns, HoldsNoRowsAsEmptyColumns) {
  StepColumns columns(kNoPacking);
  EXPECT_EQ(document_of(std::move(columns), 1),
            R"({"run_id":1,"segment":[],"iteration":[],"step_time_s":[],"tflops_per_gpu":[],)"
            R"("extra_fields":{},"extra_values_left_out":0})");
}

TEST(StepColumns, NamesWhatAStepsTimeHoldsBesideTraining) {
  StepColumns columns(kNoPacking);
  parser::StepSample sample;
  columns.add(sample);
  sample.extra_fields = {{"is_profiled", 1.0}, {"timing_s/save_checkpoint", 0.5}};
  columns.add(sample);
  sample.extra_fields = {{"after_evaluation", 0.0}};
  columns.add(sample);
  const Json json = Json::parse(document_of(std::move(columns), 1));
  EXPECT_EQ(json["interruptions"], Json::parse(R"([null,"checkpoint,profile",null])"));
  EXPECT_EQ(json["extra_fields"], Json::parse(R"({"timing_s/save_checkpoint":[null,0.5,null]})"));
}

// The same document, whatever the columns were held as in between.
TEST(StepColumns, AreHeldPackedWhereARunIsLong) {
  std::size_t unpacked_bytes_max = 0;
  std::size_t packed_count = 0;
  std::size_t unpacked_count = 0;
  const TextPacking packing = {[&](std::string_view text) {
                                 unpacked_bytes_max = std::max(unpacked_bytes_max, text.size());
                                 ++packed_count;
                                 return std::string(text.rbegin(), text.rend());
                               },
                               [&](std::string_view packed) {
                                 ++unpacked_count;
                                 return std::string(packed.rbegin(), packed.rend());
                               }};
  constexpr int kRows = 10 * StepColumns::kRowsPacked + 17;
  StepColumns columns(packing);
  for (int i = 0; i < kRows; ++i) {
    parser::StepSample sample;
    sample.iteration = i;
    if (i % 3 == 1) sample.loss = i + 0.25;
    if (i > 9'000) sample.extra_fields = {{"late", i}};
    columns.add(sample);
  }
  const Json json = Json::parse(document_of(std::move(columns), 1));
  EXPECT_EQ(packed_count, unpacked_count);
  EXPECT_GT(packed_count, 20U);
  EXPECT_LT(unpacked_bytes_max, 30 * StepColumns::kRowsPacked);
  for (const char* name : {"segment", "iteration", "step_time_s", "loss"}) {
    ASSERT_EQ(json[name].size(), std::size_t{kRows}) << name;
  }
  ASSERT_EQ(json["extra_fields"]["late"].size(), std::size_t{kRows});
  for (int i = 0; i < kRows; ++i) {
    ASSERT_EQ(json["iteration"][i], i);
    ASSERT_EQ(json["loss"][i], i % 3 == 1 ? Json(i + 0.25) : Json());
    ASSERT_EQ(json["extra_fields"]["late"][i], i > 9'000 ? Json(double(i)) : Json());
  }
}

TEST(StepColumns, KeepsEveryDigit) {
  StepColumns columns(kNoPacking);
  parser::StepSample sample;
  sample.iteration = std::numeric_limits<std::int64_t>::max();
  sample.step_time_s = 0.1 + 0.2;
  sample.learning_rate = 5e-324;
  columns.add(sample);
  const Json json = Json::parse(document_of(std::move(columns), 1));
  EXPECT_EQ(json["iteration"][0], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(json["step_time_s"][0].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json["learning_rate"][0].get<double>(), 5e-324);
}

}  // namespace
}  // namespace llmb::report
