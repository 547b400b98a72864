// What is left of a log that was cut inside its last number, by a full disk or in a copy.
#include "parser/dialects/unended_number.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "log_samples.h"

namespace llmb::parser {
namespace {

std::string nemo(int iteration, const std::string& seconds) {
  return fmt::format(
      "Training epoch 0, iteration {}/49 | lr: 3e-06 | global_step: {} | reduced_train_loss: 11.2 "
      "| train_step_timing in s: {}",
      iteration, iteration, seconds);
}

std::string megatron(int iteration, const std::string& milliseconds) {
  return fmt::format(
      " iteration {:8}/      50 | consumed samples: {:12} | elapsed time per iteration (ms): {}",
      iteration, iteration * 128, milliseconds);
}

std::optional<double> last_step_time(const std::string& log) {
  const ParsedLog parsed = parse_log(log);
  EXPECT_EQ(parsed.samples.size(), 2U) << log;
  return parsed.samples.empty() ? std::nullopt : parsed.samples.back().step_time_s;
}

TEST(UnendedNumber, IsLeftOutWhereItMayHaveHadMoreDigits) {
  const std::string before = nemo(48, "2.704") + "\n";
  for (const char* const cut : {"2", "2.", "2.7", "2.70"}) {
    EXPECT_EQ(last_step_time(before + nemo(49, cut)), std::nullopt) << cut;
    EXPECT_TRUE(last_step_time(before + nemo(49, cut) + "\n")) << cut;
  }
  EXPECT_EQ(last_step_time(before + nemo(49, "2.711")), 2.711);
  EXPECT_EQ(last_step_time(before + nemo(49, "2") + " | consumed_samples: 12"), 2.0);
}

TEST(UnendedNumber, OfMillisecondsIsKnownByTheStepBefore) {
  const std::string before = megatron(48, "5743.4 | lm loss: 7.1E+00 |\n");
  EXPECT_EQ(last_step_time(before + megatron(49, "5")), std::nullopt);
  EXPECT_EQ(last_step_time(before + megatron(49, "5741")), std::nullopt);
  EXPECT_EQ(last_step_time(before + megatron(49, "5741.2")), 5.7412);
}

// Four digits, wherever the point stands.
TEST(UnendedNumber, IsKeptWhereItHasAsManyDigits) {
  EXPECT_EQ(last_step_time(nemo(48, "9.987") + "\n" + nemo(49, "10.01")), 10.01);
  EXPECT_EQ(last_step_time(megatron(48, "1000.2 |\n") + megatron(49, "998.7")), 0.9987);
}

TEST(UnendedNumber, CountsAsALineThatIsCutOff) {
  const ParsedLog log = parse_log(nemo(48, "2.704") + "\n" + nemo(49, "2"));
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

TEST(UnendedNumber, OfOneStepAloneIsKept) {
  const ParsedLog log = parse_log(nemo(49, "2"));
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, 2.0);
}

}  // namespace
}  // namespace llmb::parser
