#include "runner/parallel/loopback_communicator.h"

#include <gtest/gtest.h>

#include "tests/runner/parallel/communicator_cases.h"

namespace llmb::runner {
namespace {

TEST(LoopbackCommunicator, OfOneRankCopies) {
  const auto world = make_loopback_world();
  testing::expect_reductions_in_rank_order<float>(*world);
  testing::expect_messages(*world);
}

TEST(LoopbackCommunicator, OfASliceFillsEveryBufferFromItsOwnData) {
  const auto world = make_loopback_world(4, 2);
  const auto comm = world->make_group("tp", {0, 2});
  EXPECT_EQ(comm->rank(), 1);
  const std::vector<float> mine = {1, 2};
  std::vector<float> all(4, -1);
  comm->all_gather(mine, all, "gather");
  EXPECT_EQ(all, (std::vector<float>{1, 2, 1, 2}));
  std::vector<float> part(2);
  comm->reduce_scatter(std::vector<float>{1, 2, 3, 4}, part, "scatter");
  EXPECT_EQ(part, (std::vector<float>{3, 4}));
  const std::vector<std::size_t> sent_counts = {1, 2};
  const std::vector<std::size_t> received_counts = {3, 0};
  std::vector<float> received(3, -1);
  comm->all_to_all(std::vector<float>{7, 8, 9}, sent_counts, received, received_counts, "swap");
  EXPECT_EQ(received, (std::vector<float>{7, 7, 7}));
  comm->send(mine, 0, "up");
  comm->recv(all, 0, "up");
  EXPECT_EQ(all, (std::vector<float>{0, 0, 0, 0}));
}

TEST(LoopbackCommunicator, DoesNotInventAMessageToItself) {
  const auto world = make_loopback_world();
  const auto comm = world->make_group("pp", {0});
  std::vector<float> data(2);
  EXPECT_THROW(comm->recv(data, 0, "up"), CommunicationError);
}

}  // namespace
}  // namespace llmb::runner
