// Sends that wait for their receivers: one call after the other deadlocks, exchanges do not.
#include "runner/schedule/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace llmb::runner {
namespace {

using testing::HasSubstr;

std::vector<std::vector<Task>> lists_of(const PipelineShape& shape) {
  std::vector<std::vector<Task>> lists;
  for (int stage = 0; stage < shape.stages; ++stage) lists.push_back(make_task_list(shape, stage));
  return lists;
}

std::string str(const Exchange& exchange) {
  return (exchange.send ? exchange.send->str() : "") + "|" +
         (exchange.receive ? exchange.receive->str() : "");
}

// After which pass each exchange of a stage begins.
std::vector<std::string> begins_of(const PipelineShape& shape, int stage, Direction direction) {
  std::vector<std::string> texts;
  for (const Exchange& exchange : exchanges_of(make_task_list(shape, stage), direction)) {
    texts.push_back(exchange.after ? exchange.after->str() : "");
  }
  return texts;
}

TEST(Exchanges, PairWhatAPassLeavesWithWhatTheNextOneNeeds) {
  std::vector<std::string> texts;
  const std::vector<Task> tasks = make_task_list({.stages = 3, .chunks = 1, .micro_batches = 2}, 1);
  for (const Exchange& exchange : exchanges_of(tasks, Direction::activations)) {
    texts.push_back(str(exchange));
  }
  EXPECT_THAT(texts, testing::ElementsAre("|receive_activation 0.0 <- 0",
                                          "send_activation 0.0 -> 2|receive_activation 1.0 <- 0",
                                          "send_activation 1.0 -> 2|"));
}

// A receive that waits on a device from the step's begin would be in the way of its kernels.
TEST(Exchanges, BeginNoSoonerThanTheirFirstPassIsTheNext) {
  const PipelineShape shape{.stages = 3, .chunks = 1, .micro_batches = 3};
  EXPECT_THAT(begins_of(shape, 0, Direction::activations),
              testing::ElementsAre("forward 0.0", "forward 1.0", "forward 2.0"));
  EXPECT_THAT(begins_of(shape, 0, Direction::gradients),
              testing::ElementsAre("forward 2.0", "backward 0.0", "backward 1.0"));
  EXPECT_THAT(begins_of(shape, 2, Direction::activations),
              testing::ElementsAre("", "forward 0.0", "forward 1.0"));
  EXPECT_THAT(begins_of(shape, 2, Direction::gradients),
              testing::ElementsAre("backward 0.0", "backward 1.0", "backward 2.0"));
}

// Every message of the list is in one exchange, and nothing else is.
TEST(Exchanges, HoldEveryMessageOnce) {
  const std::vector<Task> tasks = make_task_list({.stages = 4, .chunks = 3, .micro_batches = 8}, 2);
  std::vector<std::string> messages;
  for (const Direction direction : {Direction::activations, Direction::gradients}) {
    for (const Exchange& exchange : exchanges_of(tasks, direction)) {
      if (exchange.send) messages.push_back(exchange.send->str());
      if (exchange.receive) messages.push_back(exchange.receive->str());
    }
  }
  std::vector<std::string> expected;
  for (const Task& task : tasks) {
    if (task.peer >= 0) expected.push_back(task.str());
  }
  EXPECT_THAT(messages, testing::UnorderedElementsAreArray(expected));
}

// The stages of a pipeline that send before they receive wait for each other.
TEST(Rendezvous, OneMessageAfterTheOtherDeadlocks) {
  for (const PipelineShape& shape :
       {PipelineShape{2, 1, 4}, PipelineShape{4, 1, 8}, PipelineShape{2, 2, 4},
        PipelineShape{4, 2, 8}, PipelineShape{8, 4, 16}}) {
    const auto lists = lists_of(shape);
    EXPECT_THAT(rendezvous_problem(shape, lists, MessageOrder::one_by_one),
                HasSubstr("wait for each other for ever: stage 0 at "))
        << "pp " << shape.stages << " vp " << shape.chunks << " m " << shape.micro_batches;
  }
}

// All that check_layout accepts: interleaving passes micro-batches in whole rounds of pp.
TEST(Rendezvous, ExchangesRunInEveryShapeThatALayoutMayHave) {
  int shapes = 0;
  for (int stages = 1; stages <= 8; ++stages) {
    for (int chunks = 1; chunks <= (stages == 1 ? 1 : 4); ++chunks) {
      for (int micro_batches = 1; micro_batches <= 3 * stages; ++micro_batches) {
        if (chunks > 1 && micro_batches % stages != 0) continue;
        const PipelineShape shape{stages, chunks, micro_batches};
        for (const auto loading :
             {KernelLoading::before_the_step, KernelLoading::at_first_launch}) {
          ASSERT_EQ(rendezvous_problem(shape, lists_of(shape), MessageOrder::exchanges, loading),
                    "")
              << "pp " << stages << " vp " << chunks << " m " << micro_batches << " loading "
              << static_cast<int>(loading);
        }
        ++shapes;
      }
    }
  }
  EXPECT_GE(shapes, 150);
}

TEST(Rendezvous, FindsAMessageThatNobodySends) {
  const PipelineShape shape{2, 1, 2};
  auto lists = lists_of(shape);
  std::erase_if(lists[0], [](const Task& task) {
    return task.kind == TaskKind::send_activation && task.micro_batch == 1;
  });
  EXPECT_THAT(rendezvous_problem(shape, lists, MessageOrder::exchanges),
              HasSubstr("stage 1 at forward 1.0"));
  auto swapped = lists_of(shape);
  for (Task& task : swapped[1]) task.micro_batch = 1 - task.micro_batch;
  EXPECT_NE(rendezvous_problem(shape, swapped, MessageOrder::exchanges), "");
}

}  // namespace
}  // namespace llmb::runner
