// What is left of a log that was cut inside its last number, by a full disk or in a copy.
#include "parser/dialects/unended_number.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

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

// The number before it is another one on each line, and no part of its name.
TEST(UnendedNumber, CountsWhateverStandsBeforeItsName) {
  const auto titan = [](int step, const std::string& tflops, const std::string& mfu) {
    return fmt::format(
        "[titan] 2025-06-02 09:11:2{},900 - root - INFO - step: {:2}  loss:  7.1000  "
        "memory: 58.20GiB(73.60%)  tps: 2,711  tflops: {}  mfu: {}",
        step, step, tflops, mfu);
  };
  const std::string log = titan(1, "131.51", "13.30%") + "\n" + titan(2, "140.62", "14.22%");
  const ParsedLog cut = parse_log(log);
  const ParsedLog whole = parse_log(log + "\n");
  ASSERT_EQ(cut.samples.size(), 2U);
  EXPECT_FALSE(cut.samples.back().extra_fields.empty());
  EXPECT_EQ(cut.samples.back().extra_fields, whole.samples.back().extra_fields);
}

// From 1000 on NeMo prints an exponent: what stands before it looks like any other number.
TEST(UnendedNumber, IsLeftOutWhereItMayHaveHadAnExponent) {
  const auto tflops = [](int iteration, const std::string& value) {
    return nemo(iteration, "2.704") + " | TFLOPS_per_GPU: " + value;
  };
  const auto last_tflops = [](const std::string& log) {
    const ParsedLog parsed = parse_log(log);
    return parsed.samples.empty() ? std::nullopt : parsed.samples.back().tflops_per_gpu;
  };
  const std::string before = tflops(48, "1.605e+03") + "\n";
  for (const char* const cut : {"1", "1.6", "1.61", "1.613", "1.613e", "1.613e+", "1.613e+0"}) {
    EXPECT_EQ(last_tflops(before + tflops(49, cut)), std::nullopt) << cut;
  }
  EXPECT_EQ(last_tflops(before + tflops(49, "1.613e+03")), 1613);
  EXPECT_EQ(last_tflops(tflops(48, "987.6") + "\n" + tflops(49, "1.613")), std::nullopt);
}

TEST(UnendedNumber, IsLeftOutWhereItMayHaveHadASuffixOrThousands) {
  const auto nanotron = [](const std::string& milliseconds) {
    return "iteration: 2 / 50 | consumed_tokens: 1.05M | time_per_iteration_ms: " + milliseconds;
  };
  const std::string one = "iteration: 1 / 50 | time_per_iteration_ms: 1.19K | lm_loss: 8.4\n";
  EXPECT_EQ(last_step_time(one + nanotron("1.1")), std::nullopt);
  EXPECT_EQ(last_step_time(one + nanotron("1.15K |")), 1.15);
  const auto rate = [](const std::string& log) {
    const ParsedLog parsed = parse_log(log);
    EXPECT_EQ(parsed.samples.size(), 2U) << log;
    return parsed.samples.back().extra_fields;
  };
  const std::string titan = "step: 1  loss: 8.1000  memory: 68.57GiB(86.69%)  tps: 2,698\n";
  const std::string next = "step: 2  loss: 8.0000  memory: 68.57GiB(86.69%)  tps: ";
  for (const char* const cut : {"2", "2,", "2,7", "2,71"}) {
    EXPECT_TRUE(rate(titan + next + cut).empty()) << cut;
  }
  EXPECT_EQ(rate(titan + next + "2,714").at(0).second, 2714);
}

// Where the lines before go on behind it, the line is cut, whatever the number looks like.
TEST(UnendedNumber, IsLeftOutWithinWhatIsALine) {
  const std::string before = megatron(48, "5743.4 | lm loss: 7.1E+00 |\n");
  for (const char* const cut : {"5", "5741", "5741.2"}) {
    EXPECT_EQ(last_step_time(before + megatron(49, cut)), std::nullopt) << cut;
  }
  EXPECT_EQ(last_step_time(before + megatron(49, "5741.2 | lm loss: 7.0E+00")), 5.7412);
}

// 100 behind a 998 may be one of 1000.
TEST(UnendedNumber, OfDigitsAloneIsLeftOut) {
  EXPECT_EQ(last_step_time(nemo(48, "2") + "\n" + nemo(49, "3")), std::nullopt);
}

// Programs that do not print trailing zeros: 2.7 may be one of 2.711.
TEST(UnendedNumber, IsHeldAgainstTheLongestOfTheLastLines) {
  const std::string before = nemo(47, "2.704") + "\n" + nemo(48, "2.7") + "\n";
  EXPECT_EQ(parse_log(before + nemo(49, "2.7")).samples.back().step_time_s, std::nullopt);
  EXPECT_EQ(parse_log(before + nemo(49, "2.711")).samples.back().step_time_s, 2.711);
}

TEST(UnendedNumber, IsKnownByWhatWasReadBeforeARestart) {
  LogReader reader;
  reader.feed(nemo(48, "2.704") + "\n");
  auto restored = LogReader::restore(reader.save_state());
  ASSERT_TRUE(restored.has_value());
  restored->feed(nemo(49, "2.711"));
  restored->finish();
  const std::vector<StepSample> samples = restored->take_samples();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].step_time_s, 2.711);
}

TEST(UnendedNumber, CountsAsALineThatIsCutOff) {
  const ParsedLog log = parse_log(nemo(48, "2.704") + "\n" + nemo(49, "2"));
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

TEST(UnendedNumber, OfOneStepAloneIsLeftOut) {
  const ParsedLog log = parse_log(nemo(49, "2"));
  ASSERT_EQ(log.samples.size(), 1U);
  EXPECT_EQ(log.samples[0].step_time_s, std::nullopt);
}

}  // namespace
}  // namespace llmb::parser
