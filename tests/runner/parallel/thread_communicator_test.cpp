#include "runner/parallel/thread_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/patience.h"
#include "tests/runner/parallel/communicator_cases.h"

namespace llmb::runner {
namespace {

using testing::all_ranks;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kBriefly{300};

std::string error_of(int ranks, const std::function<void(World&)>& body,
                     std::chrono::milliseconds patience = kTestPatience) {
  try {
    run_thread_ranks(ranks, body, patience);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(ThreadCommunicator, ReducesInTheOrderOfTheRanks) {
  for (const int ranks : {1, 2, 3, 8}) {
    run_thread_ranks(ranks, testing::expect_reductions_in_rank_order<float>);
    run_thread_ranks(ranks, testing::expect_reductions_in_rank_order<double>);
  }
}

TEST(ThreadCommunicator, MovesWhatItIsTold) {
  for (const int ranks : {2, 3, 8}) run_thread_ranks(ranks, testing::expect_moves);
}

TEST(ThreadCommunicator, DeliversMessagesInOrderOnEveryChannel) {
  for (const int ranks : {2, 5}) run_thread_ranks(ranks, testing::expect_messages);
}

TEST(ThreadCommunicator, KeepsGroupsApart) {
  run_thread_ranks(8, testing::expect_groups_apart);
}

TEST(ThreadCommunicator, ReducesInTheOrderOfTheGroupNotOfTheRanks) {
  run_thread_ranks(3, [](World& world) {
    const auto comm = world.make_group("reversed", {2, 1, 0});
    const std::vector<float> numbers = {1e8F, -1e8F, 1.0F};
    std::vector<float> data = {numbers[static_cast<std::size_t>(world.rank())]};
    comm->all_reduce(data, ReduceOp::sum, "sum");
    EXPECT_EQ(data[0], 0.0F);  // (1 - 1e8) + 1e8, where 1 is lost; the other order gives 1
  });
}

TEST(ThreadCommunicator, KeepsANaNInAMaximum) {
  run_thread_ranks(3, [](World& world) {
    const auto comm = world.make_group("all", all_ranks(3));
    std::vector<float> data = {world.rank() == 1 ? std::nanf("") : 1.0F};
    comm->all_reduce(data, ReduceOp::max, "max");
    EXPECT_TRUE(std::isnan(data[0]));
  });
}

TEST(ThreadCommunicator, NamesBothPlacesWhereRanksDisagree) {
  const std::string operation = error_of(4, [](World& world) {
    const auto comm = world.make_group("tp", all_ranks(4));
    std::vector<float> data(8);
    std::vector<float> all(32);
    if (world.rank() == 2) {
      comm->all_gather(data, all, "attention.gather");
    } else {
      comm->all_reduce(data, ReduceOp::sum, "attention.sum");
    }
  });
  EXPECT_THAT(operation, AllOf(HasSubstr("attention.gather at tests/runner/parallel/thread_"),
                               HasSubstr("attention.sum at tests/runner/parallel/thread_"),
                               HasSubstr("rank 0"), HasSubstr("rank 2"), HasSubstr("group tp")));
  const auto reduce = [](std::size_t other_count, bool other_type) {
    return [=](World& world) {
      const auto comm = world.make_group("dp", all_ranks(2));
      std::vector<float> floats(world.rank() == 1 ? other_count : 8);
      std::vector<double> doubles(8);
      const bool as_double = other_type && world.rank() == 1;
      comm->all_reduce(as_double ? Buffer(doubles) : Buffer(floats), ReduceOp::sum, "sum");
    };
  };
  EXPECT_THAT(error_of(2, reduce(9, false)), AllOf(HasSubstr("of 8"), HasSubstr("of 9")));
  EXPECT_THAT(error_of(2, reduce(8, true)), AllOf(HasSubstr("float32"), HasSubstr("float64")));
  EXPECT_EQ(error_of(2, reduce(8, false)), "");
}

TEST(ThreadCommunicator, ComparesTheCountsOfAnAllToAll) {
  const std::string error = error_of(2, [](World& world) {
    const auto comm = world.make_group("ep", all_ranks(2));
    const std::vector<float> sent(3);
    std::vector<float> received(world.rank() == 0 ? 3 : 4);
    const std::vector<std::size_t> sends = {1, 2};
    const std::vector<std::size_t> receives = {1, world.rank() == 0 ? 2U : 3U};
    comm->all_to_all(sent, sends, received, receives, "dispatch");
  });
  EXPECT_THAT(error, AllOf(HasSubstr("sends"), HasSubstr("expects"), HasSubstr("dispatch")));
}

TEST(ThreadCommunicator, NamesBothPlacesWhereAMessageDoesNotFit) {
  const std::string error = error_of(2, [](World& world) {
    const auto comm = world.make_group("pp", all_ranks(2));
    std::vector<float> data(world.rank() == 0 ? 4 : 5);
    if (world.rank() == 0) {
      comm->send(data, 1, "activation");
    } else {
      comm->recv(data, 0, "activation");
    }
  });
  EXPECT_THAT(error, AllOf(HasSubstr("send of 4"), HasSubstr("recv of 5")));
}

TEST(ThreadCommunicator, SaysWhoDidNotCome) {
  const std::string error = error_of(
      3,
      [](World& world) {
        const auto comm = world.make_group("dp", all_ranks(3));
        if (world.rank() != 1) comm->barrier("step.end");
      },
      kBriefly);
  EXPECT_THAT(error, AllOf(HasSubstr("did not come: rank 1"), HasSubstr("step.end")));
}

TEST(ThreadCommunicator, SaysWhichOtherMessagesWait) {
  const std::string error = error_of(
      2,
      [](World& world) {
        const auto comm = world.make_group("pp", all_ranks(2));
        std::vector<float> data(4);
        if (world.rank() == 0) comm->send(data, 1, "activation");
        if (world.rank() == 1) comm->recv(data, 0, "gradient");
      },
      kBriefly);
  EXPECT_THAT(error,
              AllOf(HasSubstr("gradient"), HasSubstr("it did send"), HasSubstr("activation")));
}

TEST(ThreadCommunicator, ARankThatThrowsWakesTheOthersWhereverTheyWait) {
  std::atomic<int> woken = 0;
  const std::string error = error_of(4, [&](World& world) {
    const auto all = world.make_group("all", all_ranks(4));
    const auto pair = world.make_group(
        "pair", world.rank() < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3});
    std::vector<float> data(4);
    try {
      if (world.rank() == 0) throw std::runtime_error("out of tokens");
      if (world.rank() == 1) all->barrier("never");
      if (world.rank() == 2) pair->recv(data, 1, "never");
      if (world.rank() == 3) all->all_reduce(data, ReduceOp::sum, "never");
    } catch (const CommunicationError& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("rank 0 failed: out of tokens"));
      ++woken;
      throw;
    }
  });
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(error, "out of tokens");
}

TEST(ThreadCommunicator, ShowsTheCauseAndNotItsEchoes) {
  for (int round = 0; round < 20; ++round) {
    const std::string error = error_of(4, [](World& world) {
      const auto all = world.make_group("all", all_ranks(4));
      for (int i = 0; i < 10; ++i) {
        if (world.rank() == 3 && i == 5) throw std::runtime_error("the cause");
        std::vector<float> data(100);
        all->all_reduce(data, ReduceOp::sum, "sum");
      }
    });
    EXPECT_EQ(error, "the cause");
  }
}

TEST(ThreadCommunicator, RefusesArgumentsThatContradictEachOther) {
  run_thread_ranks(1, [](World& world) {
    const auto comm = world.make_group("all", {0});
    std::vector<float> two(2);
    std::vector<float> three(3);
    std::vector<double> doubles(2);
    std::vector<std::byte> bytes(2);
    EXPECT_THROW(comm->all_gather(two, three, "x"), std::invalid_argument);
    EXPECT_THROW(comm->reduce_scatter(two, doubles, "x"), std::invalid_argument);
    EXPECT_THROW(comm->all_reduce(bytes, ReduceOp::sum, "x"), std::invalid_argument);
    EXPECT_THROW(comm->broadcast(two, 1, "x"), std::invalid_argument);
    EXPECT_THROW(comm->send(two, -1, "x"), std::invalid_argument);
    EXPECT_THROW(world.make_group("other", {1}), std::invalid_argument);
  });
}

TEST(Communicator, TellsItsObserverAndCounts) {
  run_thread_ranks(2, [](World& world) {
    const auto comm = world.make_group("dp", all_ranks(2));
    std::vector<std::string> seen;
    comm->set_observer([&](const Communicator& from, const CallRecord& call) {
      seen.push_back(from.name() + " " + name_of(call.kind) + " " + std::to_string(call.count) +
                     " #" + std::to_string(call.sequence));
    });
    std::vector<float> data(6);
    comm->all_reduce(data, ReduceOp::sum, "sum");
    comm->barrier("end");
    EXPECT_EQ(seen, (std::vector<std::string>{"dp all_reduce(sum) 6 #0", "dp barrier 0 #1"}));
    EXPECT_EQ(comm->totals().calls, 2U);
    EXPECT_EQ(comm->totals().bytes_sent, 24U);
  });
}

}  // namespace
}  // namespace llmb::runner
