// Logs in which several processes print their steps, some after others went on, with and without
// the labels of launchers.
#include "parser/dialects/printing_processes.h"

#include <gtest/gtest.h>

#include <functional>

#include "log_samples.h"
#include "parser/lines/line_prefix.h"

namespace llmb::parser {
namespace {

constexpr int kProcesses = 8;
constexpr int kSteps = 50;

std::string maxtext_line(int step, int process) {
  return "completed step: " + std::to_string(step) + ", seconds: 3.33" + std::to_string(process) +
         ", TFLOP/s/device: 400.1, loss: 5.4\n";
}
std::string torchtitan_line(int step, int process) {
  const std::string minute = (step < 10 ? "0" : "") + std::to_string(step);
  return "[titan] 2026-03-04 00:" + minute + ":00,44" + std::to_string(process) +
         " - root - INFO - step: " + std::to_string(step) +
         "  loss: 3.4  memory: 68.50GiB(86.69%)  tps: 6,78" + std::to_string(process) + "\n";
}
std::string megatron_line(int step, int process) {
  return " iteration " + std::to_string(step) + "/ 50 | consumed samples: 512 | elapsed time per" +
         " iteration (ms): 510" + std::to_string(process) + ".0 | lm loss: 9.0E+00 |\n";
}
std::string nanotron_line(int step, int process) {
  return "iteration: " + std::to_string(step) + " / 50 | time_per_iteration_ms: 1.2" +
         std::to_string(process) + "K | lm_loss: 9.9 | lr: 0.0003\n";
}
std::string automodel_line(int step, int process) {
  return "2026-03-14 10:00:10 | INFO | root | step " + std::to_string(step) +
         " | epoch 0 | loss 2.5 | tps 80.5(10." + std::to_string(process) +
         "/gpu) | num_label_tokens 4096\n";
}

using Printer = std::function<std::string(int step, int process)>;
using Lateness = std::function<bool(int step, int process)>;

// Steps `first` to `last`, by all processes; what comes late stands behind the first lines of the
// step that follows.
std::string steps(const Printer& line, int first, int last, const Lateness& is_late) {
  std::string log;
  std::string late;
  for (int step = first; step <= last; ++step) {
    std::string next_late;
    for (int process = 0; process < kProcesses; ++process) {
      (is_late(step, process) ? next_late : log) += line(step, process);
      if (process == 0) log += std::exchange(late, {});
    }
    late = next_late;
  }
  return log + late;
}
bool last_is_late(int /*step*/, int process) {
  return process == kProcesses - 1;
}

Printer labelled(const Printer& line, const std::string& before, const std::string& behind) {
  return [=](int step, int process) {
    return before + std::to_string(process) + behind + line(step, process);
  };
}

TEST(PrintingProcesses, OneThatIsAlwaysLateIsToldByItsLabel) {
  const std::vector<std::pair<std::string, std::string>> labels = {
      {"", ": "}, {"[rank", "]: "}, {"[1,", "]<stdout>:"}, {"[pod/trainer-", "/main] "}};
  for (const Printer& line :
       {Printer(maxtext_line), Printer(torchtitan_line), Printer(megatron_line),
        Printer(nanotron_line), Printer(automodel_line)}) {
    for (const auto& [before, behind] : labels) {
      const Printer printer = labelled(line, before, behind);
      const ParsedLog log = parse_log(steps(printer, 1, kSteps, last_is_late));
      EXPECT_EQ(log.facts.segments.size(), 1U) << printer(1, 0);
      EXPECT_EQ(log.samples.size(), std::size_t{kSteps}) << printer(1, 0);
    }
  }
}

// Where the next attempt's first step is one that some had not printed when it died.
TEST(PrintingProcesses, OfWhichOneGoesBackBeganAnew) {
  for (const Printer& line : {Printer(maxtext_line), Printer(megatron_line)}) {
    for (const int resumed_at : {1, 20, 29}) {
      const Printer printer = labelled(line, "", ": ");
      const ParsedLog log = parse_log(steps(printer, 1, 30, last_is_late) +
                                      steps(printer, resumed_at, kSteps, last_is_late));
      ASSERT_EQ(log.facts.segments.size(), 2U) << resumed_at;
      EXPECT_EQ(log.facts.segments[1].first_iteration, resumed_at);
      EXPECT_EQ(log.facts.segments[1].step_count, kSteps + 1 - resumed_at);
    }
  }
}

TEST(PrintingProcesses, OfOtherLabelsThanBeforeAreAnotherAttempts) {
  const auto one_of = [](int process) {
    return [process](int step, int printing) {
      return printing == 0 ? std::to_string(process) + ": " + megatron_line(step, process) : "";
    };
  };
  for (const int died_at : {3, 30}) {
    const ParsedLog log = parse_log(steps(one_of(7), 1, died_at, last_is_late) +
                                    steps(one_of(3), 2, kSteps, last_is_late));
    EXPECT_EQ(log.facts.segments.size(), 2U) << died_at;
    EXPECT_EQ(log.facts.segments.back().step_count, kSteps - 1) << died_at;
  }
}

TEST(PrintingProcesses, WithoutLabelsOneMayBeLateInTheFirstStep) {
  const auto late_in_first = [](int step, int process) { return step == 0 && process == 7; };
  const ParsedLog once = parse_log(steps(maxtext_line, 0, kSteps, late_in_first));
  EXPECT_EQ(once.facts.segments.size(), 1U);
  EXPECT_EQ(once.samples.size(), std::size_t{kSteps + 1});
  const ParsedLog always = parse_log(steps(maxtext_line, 0, kSteps, last_is_late));
  EXPECT_EQ(always.facts.segments.size(), 1U);
}

TEST(PrintingProcesses, WithoutLabelsAreAnotherAttemptsWhereMostRepeatAStep) {
  const auto none_is_late = [](int /*step*/, int /*process*/) { return false; };
  for (const int died_at : {1, 30}) {
    const ParsedLog log = parse_log(steps(maxtext_line, 0, died_at, none_is_late) +
                                    steps(maxtext_line, 0, kSteps, none_is_late));
    ASSERT_EQ(log.facts.segments.size(), 2U) << died_at;
    EXPECT_EQ(log.facts.segments[1].step_count, kSteps + 1) << died_at;
  }
}

TEST(PrintingProcesses, AreToldApartByTheirLabelsWithoutStamps) {
  EXPECT_EQ(process_label("13: completed step: 3"), "13: ");
  EXPECT_EQ(process_label("2026-01-02T03:04:05.1Z stdout F 3: [rank3]: x"), "3: [rank3]: ");
  EXPECT_EQ(process_label("[1,7]<stdout>:2026-01-02 03:04:05,123 x"), "[1,7]<stdout>:");
  EXPECT_EQ(process_label("[2026-01-02 03:04:05] iteration 3/ 50"), "");
  EXPECT_EQ(process_label("completed step: 3"), "");
  EXPECT_EQ(process_label(""), "");
}

TEST(PrintingProcesses, AreKeptInASavedState) {
  PrintingProcesses processes;
  for (const std::string line : {"0: x", "1: x"}) {
    processes.see_line(line);
    processes.note(5);
  }
  processes.see_line("0: x");
  processes.note(6);
  StateWriter writer;
  processes.save(writer);
  const std::string saved = writer.take();
  StateReader reader(saved);
  PrintingProcesses restored;
  restored.restore(reader);
  EXPECT_TRUE(reader.at_end() && !reader.failed());
  restored.see_line("1: x");
  EXPECT_TRUE(restored.is_late(6));
  EXPECT_FALSE(restored.is_late(5));
  restored.see_line("0: x");
  EXPECT_FALSE(restored.is_late(6));
}

}  // namespace
}  // namespace llmb::parser
