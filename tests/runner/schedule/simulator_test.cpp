#include "runner/schedule/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace llmb::runner {
namespace {

using ::testing::HasSubstr;

std::vector<std::vector<Task>> task_lists(const PipelineShape& shape) {
  std::vector<std::vector<Task>> lists;
  for (int stage = 0; stage < shape.stages; ++stage) lists.push_back(make_task_list(shape, stage));
  return lists;
}

TEST(TaskList, IsTheTextbooksOneForwardOneBackward) {
  std::vector<std::string> passes;
  for (const Task& task : make_task_list({.stages = 4, .chunks = 1, .micro_batches = 4}, 2)) {
    if (task.peer < 0) passes.push_back(task.str());
  }
  EXPECT_THAT(passes, ::testing::ElementsAre("forward 0.0", "forward 1.0", "backward 0.0",
                                             "forward 2.0", "backward 1.0", "forward 3.0",
                                             "backward 2.0", "backward 3.0"));
}

TEST(TaskList, OfOneStageHasNoMessages) {
  for (const Task& task : make_task_list({.stages = 1, .chunks = 1, .micro_batches = 3}, 0)) {
    EXPECT_EQ(task.peer, -1);
  }
  EXPECT_EQ(activations_in_flight(make_task_list({1, 1, 3}, 0)), 1);
}

TEST(TaskList, RefusesSizesThatAreNone) {
  EXPECT_THROW(make_task_list({0, 1, 1}, 0), std::invalid_argument);
  EXPECT_THROW(make_task_list({2, 1, 0}, 0), std::invalid_argument);
  EXPECT_THROW(make_task_list({2, 1, 1}, 2), std::invalid_argument);
}

TEST(Schedule, RunsInTenThousandRandomLayouts) {
  std::mt19937 random(20261121);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int i = 0; i < 10000; ++i) {
    const int stages = between(1, i % 10 == 0 ? 16 : 6);
    const PipelineShape shape{stages, between(1, 5), between(1, 4 * stages)};
    const TaskCosts costs{.forward_s = 1.0 + between(0, 3),
                          .backward_s = 1.0 + between(0, 3),
                          .transfer_s = 0.25 * between(0, 8)};
    const SimulationReport report = simulate(shape, costs);
    ASSERT_EQ(report.problem, "") << "pp " << shape.stages << " vp " << shape.chunks << " m "
                                  << shape.micro_batches;
    for (int stage = 0; stage < shape.stages; ++stage) {
      const int held = report.activations_in_flight_max[static_cast<std::size_t>(stage)];
      ASSERT_LE(held, activation_bound(shape, stage));
      ASSERT_EQ(held, activations_in_flight(make_task_list(shape, stage)));
    }
    // A sender is never further ahead than the activations it holds and one chunk's group.
    ASSERT_LE(report.messages_in_flight_max, activation_bound(shape, 0));
  }
}

TEST(Schedule, HasTheBubbleOfTheFormula) {
  for (const int stages : {1, 2, 4, 8}) {
    for (const int chunks : {1, 2, 5}) {
      for (const int rounds : {1, 2, 8}) {
        const PipelineShape shape{stages, stages == 1 ? 1 : chunks, stages * rounds};
        EXPECT_NEAR(simulate(shape).bubble_fraction, ideal_bubble_fraction(shape), 1e-12)
            << "pp " << stages << " vp " << chunks << " m " << shape.micro_batches;
      }
    }
  }
}

TEST(Schedule, InterleavingShortensTheBubbleAlsoWhereMicroBatchesAreLeftOver) {
  const double plain = simulate({4, 1, 10}).bubble_fraction;
  const double interleaved = simulate({4, 4, 10}).bubble_fraction;
  EXPECT_LT(interleaved, plain);
}

TEST(Simulator, FindsADeadlock) {
  auto lists = task_lists({2, 1, 2});
  // Stage 0 wants its first gradient before it has sent anything.
  const auto wait = std::find_if(lists[0].begin(), lists[0].end(), [](const Task& task) {
    return task.kind == TaskKind::receive_gradient;
  });
  std::rotate(lists[0].begin(), wait, wait + 1);
  EXPECT_THAT(simulate({2, 1, 2}, lists).problem, HasSubstr("waits for ever"));
}

TEST(Simulator, FindsMessagesThatDoNotMatchAndWorkThatIsMissing) {
  const PipelineShape shape{2, 1, 2};
  auto swapped = task_lists(shape);
  for (Task& task : swapped[1]) task.micro_batch = 1 - task.micro_batch;
  EXPECT_THAT(simulate(shape, swapped).problem, HasSubstr("what comes next is micro-batch"));
  auto without_last = task_lists(shape);
  without_last[0].pop_back();
  EXPECT_THAT(simulate(shape, without_last).problem, HasSubstr("leaves work undone"));
  auto unread = task_lists(shape);
  std::erase_if(unread[1], [](const Task& task) {
    return task.kind == TaskKind::receive_activation && task.micro_batch == 1;
  });
  EXPECT_THAT(simulate(shape, unread).problem, HasSubstr("has no input"));
  auto twice = task_lists(shape);
  twice[0].insert(twice[0].begin(), twice[0].front());
  EXPECT_THAT(simulate(shape, twice).problem, HasSubstr("done twice"));
  auto reversed = task_lists({1, 1, 1});
  std::swap(reversed[0][0], reversed[0][1]);
  EXPECT_THAT(simulate({1, 1, 1}, reversed).problem, HasSubstr("comes before its forward"));
}

}  // namespace
}  // namespace llmb::runner
