#include "parser/lines/line_prefix.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace llmb::parser {
namespace {

constexpr auto kPrefixes = std::to_array<const char*>({
    "2026-01-02T03:04:05Z ",
    "2026-01-02T03:04:05.123456789Z stderr F ",
    "2026-01-02T03:04:05.5+02:00 ",
    "[2026-01-02 03:04:05] ",
    "2026-01-02 03:04:05,123 ",
    "[1,7]<stderr>:",
    "[3]:",
    "[3]: ",
    "[3] ",
    "[node-1:0] ",
    "[worker-3] ",
    "[pod/trainer-0/main] ",
    "I 2026-01-02T03:04:05Z ",
    "[rank3]: ",
    "[default3]:",
    " 13: ",
    "gpu-h100-node-2: ",
    "DGX-H-021: ",
    "trainer-1  | ",
    "bf16_gpus64/0 ",
    "fsdp2_llama31_70b.v2-x/11 ",
    "(RayTrainWorker pid=615, ip=10.0.0.1) ",
    "Nov 20 12:01:31 hexa03 loomd[3811]: ",
    "Nov  2 12:01:31 n1.cluster python3.10[7]: ",
});

// Whoever puts them there: a scheduler, a launcher, torch, a collector.
TEST(CollectorPrefix, IsTakenOffInAnyOrder) {
  for (const std::string first : kPrefixes) {
    for (const std::string second : kPrefixes) {
      for (const std::string third : kPrefixes) {
        const std::string line = first + second + third + "ValueError: x";
        EXPECT_EQ(without_collector_prefix(line), "ValueError: x") << line;
      }
    }
  }
}

TEST(CollectorPrefix, IsNothingElse) {
  for (const char* line : {"",
                           "[",
                           "[1,7]",
                           "[rank]: x",
                           "[rank3] x",
                           "Int32Error: x",
                           "srun: x",
                           "[12:30] x",
                           "[pod/ x] y",
                           "ValueError: x",
                           "[a:] x",
                           "2026-01-02T03:04:05.Zx",
                           "20/50 x",
                           "X 2026-01-02T03:04:05Z x",
                           "I 2026-01-02 x",
                           "  | ValueError: x",
                           "loss | 3",
                           "[E305] x",
                           "[1234567] x",
                           "[512203.118810] x",
                           "[W305 09:14:02.7 socket.cpp:755] x",
                           "2026-01-02T03:04:05: x",
                           "Nov 20 12:01:31 hexa03 kernel: x",
                           "Nov 20 12:01:31 x",
                           "Now 20 12:01:31 hexa03 loomd[3811]: x",
                           "Nov 20 12:01:31 hexa03 loomd[]: x"}) {
    EXPECT_EQ(without_collector_prefix(line), line);
  }
}

TEST(CollectorPrefix, LeavesANumberThatMayCount) {
  const auto kept = [](const char* line) {
    return without_collector_prefix(line, NumberPrefix::kept);
  };
  EXPECT_EQ(kept("2026-01-02T03:04:05Z [worker-3] [00010] loss=8.54"), "[00010] loss=8.54");
  EXPECT_EQ(kept("[3] [00010] loss=8.54"), "[3] [00010] loss=8.54");
  EXPECT_EQ(kept("[rank3]: loss=8.54"), "loss=8.54");
}

TEST(CollectorPrefix, OfATaskIsALaunchersLabel) {
  for (const char* line :
       {"13: x", " 3: x", "[default3]:x", "[1,7]<stderr>:x", "2026-01-02T03:04:05Z 3: x"}) {
    EXPECT_TRUE(has_label_of_task(line)) << line;
  }
  for (const char* line :
       {"x", "[rank3]: x", "node-3: x", "(Worker pid=3) x", "bf16/0 x", "srun: x", "3 : x"}) {
    EXPECT_FALSE(has_label_of_task(line)) << line;
  }
}

}  // namespace
}  // namespace llmb::parser
