// The daemon judges a run by the stored steps of its window, `parse` by these and some more: both
// have to say the same, also of a log whose only steps lie beyond the window.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "log_samples.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

void expect_the_same(const ParsedLog& log, const Window& window) {
  std::vector<StepSample> of_window;
  std::copy_if(log.samples.begin(), log.samples.end(), std::back_inserter(of_window),
               [&](const StepSample& sample) { return window.contains(sample.iteration); });
  const RunSummary of_all = summarize_run(log.samples, log.facts, window, false);
  const RunSummary of_few = summarize_run(of_window, log.facts, window, false);
  EXPECT_EQ(run_status_name(of_all.status), run_status_name(of_few.status));
  EXPECT_EQ(of_all.status_reason, of_few.status_reason);
  EXPECT_EQ(of_all, of_few);
}

TEST(WindowSamples, SufficeForTheVerdict) {
  for (const auto& path : own_logs()) {
    const ParsedLog log = parse_log(read_file(path));
    for (const Window window : {Window{11, 44}, {35, 44}, {0, 5}, {60, 70}, {100'000, 100'010}}) {
      SCOPED_TRACE(path.string() + ", window " + to_string(window));
      expect_the_same(log, window);
    }
  }
}

TEST(WindowSamples, SufficeWhereAllStepsLieBeyondTheWindow) {
  std::string rates;
  std::string times;
  for (int step = 100; step < 150; ++step) {
    const std::string number = std::to_string(step);
    rates += "2026-03-16 03:15:19 | INFO | __main__ | step " + number +
             " | epoch 0 | loss 2.5 | tps 80.5(10.0/gpu) | num_label_tokens 8192\n";
    times += "completed step: " + number + ", seconds: 5.4, TFLOP/s/device: 141.5, loss: 11.3\n";
  }
  for (const std::string& text : {rates, times}) {
    const ParsedLog log = parse_log(text);
    ASSERT_EQ(log.samples.size(), 50U);
    expect_the_same(log, {11, 44});
    const RunSummary summary = summarize_run(log.samples, log.facts, {11, 44}, false);
    EXPECT_EQ(summary.status, RunStatus::incomplete);
    EXPECT_NE(summary.status_reason.find("(the log's are 100-149)"), std::string::npos)
        << summary.status_reason;
  }
}

}  // namespace
}  // namespace llmb::parser
