// The labelled set: tests/logs/failures/<cause>-<case>.log, whose name says what a person who reads
// the log would call the cause ("none": it ended well, or holds only lines that look like a
// failure). Every class of failure has a log there.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "log_samples.h"
#include "parser/dialects/failure.h"
#include "parser/dialects/failure_class.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

struct LabelledLog {
  std::string label;
  std::filesystem::path path;
};

std::vector<LabelledLog> labelled_logs() {
  std::vector<LabelledLog> logs;
  for (const auto& path : own_logs()) {
    if (path.parent_path().filename() != "failures") continue;
    const std::string name = path.filename().string();
    logs.push_back({name.substr(0, name.find('-')), path});
  }
  return logs;
}

RunSummary summarize(const ParsedLog& log) {
  const Window window{0, log.facts.declared_last_iteration.value_or(0)};
  return summarize_run(log.samples, log.facts, window, false);
}

TEST(FailureLabels, AreTheCausesThatAreFound) {
  for (const auto& [label, path] : labelled_logs()) {
    SCOPED_TRACE(path.filename().string());
    const RunSummary summary = summarize(parse_log(read_file(path)));
    EXPECT_EQ(summary.failure_cause, label == "none" ? "" : label) << summary.status_reason;
    EXPECT_EQ(summary.status, label == "none" ? RunStatus::complete : RunStatus::failed);
  }
}

TEST(FailureLabels, CoverEveryClassInAHundredLinesAndMore) {
  std::set<std::string> labels;
  std::size_t lines = 0;
  for (const auto& [label, path] : labelled_logs()) {
    labels.insert(label);
    const std::string text = read_file(path);
    lines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  EXPECT_GE(lines, 100U);
  for (const FailureClass& one : failure_classes()) {
    // Told from the time that passes, and of no failure.
    if (one.cause == "hung" || begins_anew(one.cause)) continue;
    EXPECT_TRUE(labels.contains(std::string(one.cause))) << one.cause;
  }
}

TEST(FailureLabels, EveryQuotedLineStandsAtItsOffset) {
  for (const auto& [label, path] : labelled_logs()) {
    const std::string text = read_file(path);
    for (const LogEvent& event : parse_log(text).facts.events) {
      const std::string line =
          text.substr(event.offset, text.find('\n', event.offset) - event.offset);
      EXPECT_NE(line.find(event.line), std::string::npos) << path.filename() << ": " << event.line;
    }
  }
}

TEST(FailureLabels, CompleteDataBeforeAFailedTeardownStaysValidAndSaysSo) {
  const auto path = std::filesystem::path(LLMB_SOURCE_DIR) /
                    "tests/logs/failures/none-complete_then_teardown_failed.log";
  const ParsedLog log = parse_log(read_file(path));
  const RunSummary summary = summarize(log);
  EXPECT_EQ(summary.status, RunStatus::complete);
  EXPECT_NE(summary.status_reason.find("came when the data was complete"), std::string::npos);
  const LogEvent* failure = ending_failure(log.facts, summary);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->cause, "time_limit");
}

TEST(FailureClasses, HaveASignAndAdviceAndEverySignHasAClass) {
  std::set<std::string_view> shown;
  for (const FailureSign& sign : failure_signs()) {
    if (sign.kind != LogEvent::Kind::failure || sign.cause.empty()) continue;
    if (sign.cause == kStarted) continue;  // no event by itself
    shown.insert(sign.cause);
    EXPECT_NE(find_failure_class(sign.cause), nullptr) << sign.cause;
  }
  EXPECT_GE(failure_classes().size(), 20U);
  for (const FailureClass& one : failure_classes()) {
    EXPECT_FALSE(one.advice.empty()) << one.cause;
    const bool has_sign =
        one.cause != "hung" && one.cause != "python_exception" && one.cause != kWentOn;
    EXPECT_EQ(shown.contains(one.cause), has_sign) << one.cause;
  }
  EXPECT_EQ(find_failure_class("of another version"), nullptr);
}

TEST(Failure, NamesRankAndOperationOfATimeout) {
  const auto path =
      std::filesystem::path(LLMB_SOURCE_DIR) / "tests/logs/failures/nccl_timeout-watchdog.log";
  const ParsedLog log = parse_log(read_file(path));
  const LogEvent* failure = ending_failure(log.facts, summarize(log));
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->rank, 41);
  EXPECT_EQ(failure->operation, "REDUCE_SCATTER");
}

TEST(Failure, TakesTheRankFromTorchsLabelOnly) {
  const auto rank = [](std::string_view log) { return parse_log(log).facts.events.at(0).rank; };
  EXPECT_EQ(rank("[rank5]: torch.OutOfMemoryError: CUDA out of memory.\n"), 5);
  EXPECT_EQ(rank("5: CUDA out of memory.\n"), std::nullopt);
  EXPECT_EQ(rank("[default5]: CUDA out of memory.\n"), std::nullopt);
  EXPECT_EQ(rank("[rank99999999999]: CUDA out of memory.\n"), std::nullopt);
}

}  // namespace
}  // namespace llmb::parser
