// Whole runs in every precision: they learn, near what fp32 learns, and no two are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parser/reader/log_reader.h"
#include "tests/runner/train/tiny_run.h"

namespace llmb::runner {
namespace {

using testing::HasSubstr;

std::vector<double> losses_of(const TinyRun& run) {
  std::vector<double> losses;
  for (const parser::StepSample& sample : parser::parse_log(run.log).samples) {
    losses.push_back(*sample.loss);
  }
  return losses;
}

void expect_learning_in_every_precision(const Arguments& arguments) {
  const auto run = [&](const char* dtype) {
    return run_tiny(
        joined(arguments, {"--dtype", dtype, "--steps", "30", "--log-format", "megatron-bridge"}));
  };
  const std::vector<double> full = losses_of(run("fp32"));
  ASSERT_EQ(full.size(), 30U);
  std::vector<std::vector<double>> all = {full};
  for (const char* dtype : {"bf16", "fp8_cs", "fp8_ds", "fp8_mx"}) {
    SCOPED_TRACE(dtype);
    const TinyRun narrow = run(dtype);
    EXPECT_THAT(narrow.log, HasSubstr(std::string(dtype) + " is emulated"));
    const std::vector<double> losses = losses_of(narrow);
    ASSERT_EQ(losses.size(), 30U);
    EXPECT_LT(losses.back(), losses.front() - 0.2);
    EXPECT_NEAR(losses.back(), full.back(), 0.05 * full.back());
    for (const auto& other : all) EXPECT_NE(losses, other);
    all.push_back(losses);
  }
}

TEST(PrecisionRun, ADenseModelLearns) {
  expect_learning_in_every_precision(
      tiny_llama({"--virtual-ranks", "2", "--tp", "2", "--global-batch-size", "2"}));
}

TEST(PrecisionRun, AModelWithSharedAndRoutedExpertsLearns) {
  expect_learning_in_every_precision(tiny_maverick(
      {"--virtual-ranks", "2", "--dp", "2", "--ep", "2", "--global-batch-size", "2"}));
}

}  // namespace
}  // namespace llmb::runner
