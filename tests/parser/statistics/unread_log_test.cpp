#include <gtest/gtest.h>

#include "parser/statistics/run_summary.h"

namespace llmb::parser {
namespace {

TEST(UnreadLog, SaysWhyAndIsNotCalledRunning) {
  LogFacts facts;
  facts.dialect = Dialect::compressed;
  for (const bool may_still_grow : {false, true}) {
    const RunSummary summary = summarize_run({}, facts, {11, 44}, may_still_grow);
    EXPECT_EQ(summary.status, RunStatus::no_data);
    EXPECT_EQ(summary.status_reason, "the log is compressed, and not read: unpack it");
  }
  facts.events.push_back({LogEvent::Kind::failure, "cuda_oom", "CUDA out of memory", 0, 0});
  EXPECT_EQ(summarize_run({}, facts, {11, 44}, false).status, RunStatus::failed);
}

}  // namespace
}  // namespace llmb::parser
