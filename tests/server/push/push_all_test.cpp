// What is said of an agent that gave up before the server had all.
#include "server/push/push_all.h"

#include <gtest/gtest.h>

namespace llmb::push {
namespace {

TEST(PushAll, SaysWhatTheServerLacks) {
  PushStatus status;
  EXPECT_EQ(lacking_text(status),
            "an unknown number of logs (the server has not said which it has)");
  status.logs_answered = 3;
  EXPECT_EQ(lacking_text(status), "nothing but the word that all is there");
  status.lacks_text = true;
  EXPECT_EQ(lacking_text(status), "text of logs");
  status.logs_pending = 1;
  EXPECT_EQ(lacking_text(status), "1 log");
}

}  // namespace
}  // namespace llmb::push
