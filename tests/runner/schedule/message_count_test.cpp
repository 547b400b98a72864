// How many messages a stage has at a time, by hand and over every shape of a pipeline.
#include "runner/schedule/message_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::runner {
namespace {

std::vector<int> counts_of(const PipelineShape& shape) {
  std::vector<int> counts;
  for (int stage = 0; stage < shape.stages; ++stage) {
    counts.push_back(messages_at_once_max(shape, make_task_list(shape, stage)));
  }
  return counts;
}

// Two of each direction where messages come and go; what is sent to the end of the step and never
// answered in its own direction, pp + 1 of those and two more.
TEST(MessageCount, GrowsWithThePipelineWhereADirectionIsOnlySentIn) {
  using testing::ElementsAre;
  EXPECT_THAT(counts_of({1, 1, 8}), ElementsAre(0));
  EXPECT_THAT(counts_of({2, 1, 1}), ElementsAre(2, 1));
  EXPECT_THAT(counts_of({4, 1, 8}), ElementsAre(7, 4, 4, 7));
  EXPECT_THAT(counts_of({8, 1, 16}), ElementsAre(11, 4, 4, 4, 4, 4, 4, 11));
  EXPECT_THAT(counts_of({8, 1, 3}), ElementsAre(4, 3, 3, 3, 3, 3, 4, 3));
}

// Until its first group has come around, the first stage of an interleaved pipeline waits for
// nothing either.
TEST(MessageCount, GrowsWithThePipelineWhereStagesAreInterleaved) {
  EXPECT_THAT(counts_of({4, 2, 8}), testing::ElementsAre(8, 4, 4, 7));
}

}  // namespace
}  // namespace llmb::runner
