// The labelled logs behind an earlier attempt's end, which is to change nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <iostream>

#include "evaluated_log.h"
#include "labelled_logs.h"
#include "parser/statistics/first_cause.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

// What came before a launcher or a program began anew changes nothing: neither the cause of a
// failure that says a reason, and does not miss others, nor that a healthy log has not failed.
TEST(CauseEvaluation, OfLogsBehindAnEarlierAttempt) {
  constexpr auto kAttempts = std::to_array<const char*>(
      {"[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB.\n"
       "E0917 20:45:57.9 41 torch/distributed/elastic/multiprocessing/api.py:874] failed "
       "(exitcode: "
       "1) local_rank: 2 (pid: 4190) of binary: /usr/bin/python3\n"
       "I0917 20:45:57.9 41 torch/distributed/elastic/agent/server/api.py:918] [default] Worker "
       "group FAILED. 3/3 attempts left; will restart worker group\n",
       "slurmstepd: error: *** JOB 64 ON n1 CANCELLED AT 2026-02-18T05:53:31 DUE TO PREEMPTION "
       "***\nsrun: error: n1: tasks 0-7: Terminated\n"
       "All distributed processes registered. Starting with 8 processes\n"});
  int logs = 0;
  for (const char* const set : {"launchers", "contexts", "clusters", "recipes"}) {
    for (const LabelledLog& log : labelled_logs(set)) {
      const ParsedLog alone = parse_log(log.text);
      const RunSummary summary = summarize_run(alone.samples, alone.facts, {11, 44}, false);
      const LogEvent* const failure = ending_failure(alone.facts, summary);
      if (failure == nullptr || says_no_reason(*failure) || misses_others(*failure)) continue;
      ++logs;
      for (const char* const attempt : kAttempts) {
        EXPECT_EQ(judge_text(attempt + log.text, false).failure_cause, summary.failure_cause)
            << set << ": " << log.line;
      }
    }
  }
  std::cout << fmt::format("{} logs behind an earlier attempt\n", logs);
  EXPECT_GE(logs, 400);
  for (const char* const set : {"ill_looking", "healthy_clusters", "healthy_recipes"}) {
    for (const LabelledLog& log : labelled_logs(set)) {
      for (const char* const attempt : kAttempts) {
        EXPECT_NE(judge_text(attempt + log.text, true).status, RunStatus::failed) << log.line;
      }
    }
  }
}

}  // namespace
}  // namespace llmb::parser
