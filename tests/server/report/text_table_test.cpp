#include "server/report/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace llmb::report {
namespace {

using testing::ElementsAre;

TEST(Wrapped, BreaksAtSpacesThenAtJointsThenAnywhere) {
  EXPECT_THAT(wrapped("the run was killed", 8), ElementsAre("the run", "was", "killed"));
  EXPECT_THAT(wrapped("grok1_314b_gpus8", 8), ElementsAre("grok1_", "314b_", "gpus8"));
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("\u00d7\u00d7\u00d7", 2), ElementsAre("\u00d7\u00d7", "\u00d7"));
  EXPECT_THAT(wrapped("fits", 4), ElementsAre("fits"));
  EXPECT_THAT(wrapped("", 4), ElementsAre(""));
}

std::string printed(std::size_t width_max) {
  TextTable table({"RUN", ">GPUS", "REASON"});
  table.add({"pretrain_grok1_314b_fp8_gpus512_tp4_pp8", "512", "the whole window is there"});
  table.add({"b", "8", "none"});
  std::ostringstream out;
  table.print(out, width_max);
  return out.str();
}

TEST(TextTable, IsAsWideAsItsTextsWhereNothingBoundsIt) {
  EXPECT_EQ(printed(0),
            "RUN                                      GPUS  REASON\n"
            "---------------------------------------  ----  -------------------------\n"
            "pretrain_grok1_314b_fp8_gpus512_tp4_pp8   512  the whole window is there\n"
            "b                                           8  none\n");
  EXPECT_EQ(printed(200), printed(0));
}

TEST(TextTable, FitsATerminalByGoingOnBelow) {
  EXPECT_EQ(printed(50),
            "RUN                    GPUS  REASON\n"
            "---------------------  ----  ---------------------\n"
            "pretrain_grok1_314b_    512  the whole window is\n"
            "fp8_gpus512_tp4_pp8          there\n"
            "b                         8  none\n");
}

TEST(TextTable, KeepsColumnsThatCanBeReadOnATinyTerminal) {
  std::istringstream lines(printed(10));
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  EXPECT_EQ(widest, 16 + 2 + 4 + 2 + 16);
}

}  // namespace
}  // namespace llmb::report
