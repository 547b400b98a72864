#include "parser/layout/profile_name.h"

#include <gtest/gtest.h>

namespace llmb::parser {
namespace {

TEST(ProfileName, OfMostRecipesHasJobNodeAndLocalRank) {
  const auto name = parse_profile_name("profile_658572_3_7.nsys-rep");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->job_id, 658572);
  EXPECT_EQ(name->node, 3);
  EXPECT_EQ(name->local_rank, 7);
  EXPECT_EQ(name->process_id, std::nullopt);
}

TEST(ProfileName, OfGrokHasThemAfterTheGpuCount) {
  const auto name = parse_profile_name("grok1-314b-fp8_512g_388660_12_0.nsys-rep");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->job_id, 388660);
  EXPECT_EQ(name->node, 12);
  EXPECT_EQ(name->local_rank, 0);
}

TEST(ProfileName, OfNemoRunHasTheProcess) {
  const auto name = parse_profile_name("profile_31337.nsys-rep");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->process_id, 31337);
  EXPECT_EQ(name->job_id, std::nullopt);
}

TEST(ProfileName, GuessesNothing) {
  EXPECT_EQ(parse_profile_name("my_own_run.nsys-rep"), ProfileName());
  EXPECT_EQ(parse_profile_name("profile_1_2.nsys-rep"), ProfileName());
  EXPECT_EQ(parse_profile_name("profile_a_1_2.nsys-rep"), ProfileName());
  EXPECT_EQ(parse_profile_name("profile_1_-2_3.nsys-rep"), ProfileName());
  EXPECT_EQ(parse_profile_name("profile_.nsys-rep"), ProfileName());
  EXPECT_FALSE(parse_profile_name(".nsys-rep").has_value());
  EXPECT_FALSE(parse_profile_name("profile_1_2_3.sqlite").has_value());
  EXPECT_FALSE(parse_profile_name("log.out").has_value());
}

}  // namespace
}  // namespace llmb::parser
