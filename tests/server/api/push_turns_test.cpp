#include "server/api/push_turns.h"

#include <gtest/gtest.h>

namespace llmb::api {
namespace {

TEST(PushTurns, GiveAnAgentThatIsAloneTwo) {
  PushTurns turns;
  EXPECT_TRUE(turns.take("eos"));
  EXPECT_TRUE(turns.take("eos"));
  EXPECT_FALSE(turns.take("eos"));
  turns.give_back("eos");
  EXPECT_TRUE(turns.take("eos"));
}

TEST(PushTurns, LeaveRoomForAnothersFirst) {
  PushTurns turns;
  EXPECT_TRUE(turns.take("eos"));
  EXPECT_TRUE(turns.take("eos"));
  EXPECT_TRUE(turns.take("selene"));
  EXPECT_FALSE(turns.take("selene"));
  EXPECT_FALSE(turns.take("jean"));
}

TEST(PushTurns, GiveEachOneWhereManyPush) {
  PushTurns turns;
  EXPECT_TRUE(turns.take("eos"));
  EXPECT_TRUE(turns.take("eos"));
  EXPECT_TRUE(turns.take("selene"));
  turns.give_back("eos");
  EXPECT_FALSE(turns.take("eos"));
  EXPECT_TRUE(turns.take("jean"));
  EXPECT_FALSE(turns.take("fugaku"));
}

TEST(PushTurns, HaveTheSameRoomOnceAllAreGivenBack) {
  PushTurns turns;
  for (int i = 0; i < 3; ++i) {
    for (const char* agent : {"eos", "selene", "jean"}) EXPECT_TRUE(turns.take(agent));
    for (const char* agent : {"eos", "selene", "jean"}) turns.give_back(agent);
  }
}

}  // namespace
}  // namespace llmb::api
