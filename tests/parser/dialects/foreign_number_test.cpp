// Numbers that go on in a way that is not ours: none of them may become another number, in any
// dialect, and each is told as a refused line.
#include <gtest/gtest.h>

#include <algorithm>

#include "log_samples.h"
#include "parser/dialects/dialect.h"
#include "parser/dialects/fields.h"

namespace llmb::parser {
namespace {

struct DialectCase {
  std::string_view name;  // of the reader
  // Before the lines that are under test: what the reader wants to have seen.
  std::string_view head;
  std::string_view line;   // '#' is the step, '@' the step's time or rate, '&' another value
  std::string_view value;  // in the place of '@', where it is a number
};

constexpr DialectCase kDialectCases[] = {
    {"nemo", "",
     "Training epoch 0, iteration #/49 | global_step: # | reduced_train_loss: & |"
     " train_step_timing in s: @ | TFLOPS_per_GPU: 512.5\n",
     "7.382"},
    {"nemo_progress_bar", "",
     "DLL 2025-06-12 00:02:13.549782 - # reduced_train_loss : &  global_step : #"
     "  train_step_timing in s : @ \n",
     "7.382"},
    {"megatron", "",
     " [2025-12-22 15:18:33] iteration   #/   50 | consumed samples: 512 | elapsed time per"
     " iteration (ms): @ | lm loss: & | number of nan iterations:   0 |\n",
     "7137.9"},
    {"maxtext", "", "completed step: #, seconds: @, TFLOP/s/device: 512.5, loss: &\n", "7.138"},
    {"torchtitan",
     "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]\n"
     "Trainer is initialized with local batch size 1, global batch size 8, gradient accumulation "
     "steps 1, sequence length 8192, total steps 1000 (warmup 200)\n",
     "step: #  loss: &  memory: 68.57GiB(86.69%)  tps: @  mfu: 39.73%\n", "6,785"},
    {"neuronx", "", "step # step_time @s throughput 12.5 seq/s loss &\n", "7.138"},
    {"hf_trainer", "",
     "{'loss': &, 'step_time': @, 'epoch': 0.2, 'global_step/max_steps': '#/94'}\n", "7.138"},
    {"deepspeed", "", "(ds) step: # / 500 loss: & iter time (s): @ samples/sec: 12.5\n", "0.815"},
    {"mlperf", "",
     ":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": @, \"train_loss\": &},"
     " \"metadata\": {\"step\": #}}\n",
     "0.512"},
    {"verl", "", "step:# - actor/pg_loss:& - perf/time_per_step:@ - perf/throughput:3283.5\n",
     "48.75"},
    {"nemo_rl", "", "==== Step #/100 ====\n  \u2022 Loss: &\n  \u2022 Total step time: @s\n",
     "41.20"},
    {"automodel", "", "step # | epoch 0 | loss & | tps @(10.0/gpu) | num_label_tokens 8192\n",
     "80.5"},
    {"nanotron", "", "iteration: # / 50 | time_per_iteration_ms: @ | lm_loss: & | lr: 0.0001\n",
     "1.2K"},
};

std::string with(std::string_view line, int step, std::string_view value, std::string_view loss) {
  std::string text;
  for (const char c : line) {
    if (c == '#') {
      text += std::to_string(step);
    } else if (c == '@') {
      text += value;
    } else if (c == '&') {
      text += loss;
    } else {
      text += c;
    }
  }
  return text;
}

// Six steps, because some readers hold the first ones back; the third is the one under test.
ParsedLog read_with(const DialectCase& dialect, std::string_view value, std::string_view loss) {
  std::string log(dialect.head);
  for (int step = 1; step <= 6; ++step) {
    log += with(dialect.line, step, step == 3 ? value : dialect.value, step == 3 ? loss : "10.5");
  }
  return parse_log(log);
}

const StepSample* step_of(const ParsedLog& log, std::int64_t iteration) {
  const auto found = std::find_if(log.samples.begin(), log.samples.end(), [&](const auto& sample) {
    return sample.iteration == iteration;
  });
  return found == log.samples.end() ? nullptr : &*found;
}

class ForeignNumber : public testing::TestWithParam<DialectCase> {};

TEST_P(ForeignNumber, IsWhatTheCaseSaysWhereNoneIs) {
  const ParsedLog log = read_with(GetParam(), GetParam().value, "10.5");
  EXPECT_EQ(log.facts.lines_not_understood, 0);
  ASSERT_EQ(log.samples.size(), 6U);
  EXPECT_EQ(log.samples[2].loss, 10.5);
}

TEST_P(ForeignNumber, InThePlaceOfTheTimeIsNoTime) {
  for (const std::string_view value : {"5,3", "5_3", "5,3123", "5.3.1", "5'312", "5.3e"}) {
    const ParsedLog log = read_with(GetParam(), value, "10.5");
    EXPECT_EQ(log.facts.lines_not_understood, 1) << value;
    const StepSample* const step = step_of(log, 3);
    if (step == nullptr) continue;  // a step that only its time tells of
    EXPECT_FALSE(step->step_time_s) << value << ": " << step->step_time_s.value_or(0);
    for (const auto& [name, number] : step->extra_fields) EXPECT_NE(name, "tps") << number;
  }
}

TEST_P(ForeignNumber, InThePlaceOfALossIsNoLoss) {
  for (const std::string_view loss : {"5,3", "5,312", "1_000", "5.3.1"}) {
    const ParsedLog log = read_with(GetParam(), GetParam().value, loss);
    EXPECT_EQ(log.facts.lines_not_understood, 1) << loss;
    const StepSample* const step = step_of(log, 3);
    ASSERT_NE(step, nullptr);
    EXPECT_FALSE(step->loss) << loss << ": " << step->loss.value_or(0);
    EXPECT_EQ(step->step_time_s, step_of(log, 4)->step_time_s) << loss;
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, ForeignNumber, testing::ValuesIn(kDialectCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ForeignNumber, HasACaseOfEveryReader) {
  for (const DialectReaderKind& kind : dialect_reader_kinds()) {
    EXPECT_TRUE(std::any_of(std::begin(kDialectCases), std::end(kDialectCases),
                            [&](const auto& dialect) { return dialect.name == kind.name; }))
        << kind.name;
  }
}

TEST(ForeignNumber, OfAStepTimeLineOfMegatronBridgeIsRefused) {
  for (const std::string_view time : {"7,14", "7.1.4", "7_14"}) {
    const ParsedLog log = parse_log("Step Time : " + std::string(time) +
                                    "s GPU utilization: 512.5MODEL_TFLOP/s/GPU\n");
    EXPECT_EQ(log.facts.lines_not_understood, 1) << time;
    EXPECT_TRUE(log.samples.empty()) << time;
  }
  const ParsedLog log = parse_log("Step Time : 7.14s GPU utilization: 512,5MODEL_TFLOP/s/GPU\n");
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

TEST(ForeignNumber, OfATrainersBarIsNoTime) {
  const ParsedLog log = parse_log(
      "  2%|#  | 3/200 [00:23<07:16,  2,31s/it]\n{'loss': 10.5, 'grad_norm': 1.0, 'epoch': 0.2}\n"
      "  2%|#  | 4/200 [00:25<07:14,  2.31s/it]\n{'loss': 10.4, 'grad_norm': 1.0, 'epoch': 0.2}\n");
  ASSERT_EQ(log.samples.size(), 2U);
  EXPECT_FALSE(log.samples[0].step_time_s);
  EXPECT_EQ(log.samples[1].step_time_s, 2.31);
  EXPECT_EQ(log.facts.lines_not_understood, 1);
}

TEST(LeadingNumber, LetsUnitsSeparatorsAndOthersTextFollow) {
  for (const std::string_view text :
       {"5.3", "5.3s", "5.3 s", "5.3,", "5.3, 7", "5.3.", "5.3|", "5.3ms/8", "5.3[NeMo W", "5.3/4",
        "5.3)", "5.3'", "5.3epoch", "5.3-", "5.3%"}) {
    const auto number = leading_number(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(number->value, 5.3) << text;
  }
}

TEST(LeadingNumber, IsNoneWhereTheNumberGoesOn) {
  for (const std::string_view text :
       {"5,3", "5_3", "5_", "5,312", "5.3,1", "5.3.1", "5'312", "5e", "5.3e-", "5.3E+ ", "1e5.3"}) {
    EXPECT_FALSE(leading_number(text)) << text;
  }
}

TEST(TakeIteration, IsNoneWhereTheNumberGoesOn) {
  for (std::string_view text : {"1,234", "1_234", "1.5"}) EXPECT_FALSE(take_iteration(text));
  for (std::string_view text : {"7,", "7.", "7 ", "7/49", "7|", "7.ckpt"}) {
    EXPECT_EQ(take_iteration(text), 7);
  }
}

}  // namespace
}  // namespace llmb::parser
