#include "runner/op_table_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmb::runner {
namespace {

using ::testing::HasSubstr;

Ceiling ceiling_of(const std::string& operation, double count, double flops, double time_s) {
  Ceiling ceiling;
  ceiling.operation = operation;
  ceiling.count = count;
  ceiling.flops = flops;
  ceiling.time_s = time_s;
  return ceiling;
}

TEST(OpTableText, HoldsEachOperationAgainstItsCeiling) {
  OpCeilings ceilings;
  ceilings.add(ceiling_of("linear.forward", 3, 8e12, 1));
  ceilings.add(ceiling_of("linear.forward", 1, 8e12, 5));
  Ceiling copy;
  copy.bytes = 4e9;
  copy.time_s = 2;
  ceilings.add(copy);
  const cpu::OpTable table = {{"linear.forward", {2, 2.0, {.flops = 4e12}}},
                              {"attention.forward", {1, 1.0, {.flops = 3e12}}},
                              {"activation.forward", {1, 0.5, {.bytes = 5e8}}},
                              {"router.forward", {1, 0.25}}};
  const std::string text = op_table_text(table, 10, 20, 4, ceilings);
  EXPECT_THAT(text, HasSubstr("   50.0%     2.000        -      50.0%\n"));  // 32e12 in 8 s
  EXPECT_THAT(text, HasSubstr("   25.0%     3.000        -          -\n"));  // nothing measured
  EXPECT_THAT(text, HasSubstr("   12.5%         -      1.0      50.0%\n"));
  EXPECT_THAT(text, HasSubstr("    6.2%         -        -          -\n"));
}

// Ten seconds of which eight are operations; messages went on beside them for nine.
TEST(OpTableText, AddsUpWithoutWhatRanBesideTheOthers) {
  const cpu::OpTable table = {{"linear.forward", {2, 8.0, {.flops = 4e12}}},
                              {"pipeline.activation", {4, 9.0, {.bytes = 9e9}, true}}};
  OpCeilings ceilings;
  Ceiling copy;
  copy.bytes = 4e9;
  copy.time_s = 2;
  ceilings.add(copy);
  const std::string text = op_table_text(table, 0, 1, 10, ceilings);
  EXPECT_THAT(text, HasSubstr("   90.0%         -      1.0          -\n"));
  EXPECT_THAT(text, HasSubstr("2.000000                20.0%\n")) << "communication and other";
  EXPECT_THAT(text, HasSubstr("with the wait for other ranks: pipeline.activation\n"));
}

}  // namespace
}  // namespace llmb::runner
