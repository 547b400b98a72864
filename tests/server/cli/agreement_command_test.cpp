// `llmb-report agreement`, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AgreementCommand, ShowsTheToolsThatReadALog) {
  const TemporaryFolder folder;
  folder.write("a.out", nemo_log(49));
  const ProgramOptions options{folder.path(), {}, false};
  const ProgramRun table = run_program({"agreement", "a.out"}, options);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("25.08 to 26.05"));
  EXPECT_THAT(table.out, HasSubstr("averages 35-44, ours 11-44"));
  EXPECT_THAT(table.out, Not(HasSubstr("Megatron-Bridge shell parser")));
}

// The last of steps 0 to 49 takes 3 s, the others 2 s and 3 s in turn.
TEST(AgreementCommand, WritesEveryToolAsJson) {
  const TemporaryFolder folder;
  folder.write("a.out", nemo_log(49));
  const ProgramRun run =
      run_program({"agreement", "--format=json", "."}, {folder.path(), {}, false});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["runs"].size(), 1U);
  bool has_spreadsheet = false;
  for (const auto& tool : json["runs"][0]["tools"]) {
    if (tool["tool"] != "spreadsheet") continue;
    has_spreadsheet = true;
    EXPECT_EQ(tool["step_time_s_mean"], 3.0);
    EXPECT_EQ(tool["release"], "2024 documents, to 25.04");  // Nemotron 4's takes the last step
    EXPECT_EQ(tool["step_time_s_std"], nullptr);
    EXPECT_NEAR(tool["difference_to_ours"].get<double>(), 0.2, 1e-9);
  }
  EXPECT_TRUE(has_spreadsheet);
}

// As `parse` prints it: of one step there is none.
TEST(AgreementCommand, HasTheSampleDeviationOfOurs) {
  const TemporaryFolder folder;
  folder.write("a.out", nemo_log(49));
  const ProgramOptions options{folder.path(), {}, false};
  EXPECT_THAT(run_program({"agreement", "--window", "7", "a.out"}, options).out,
              ContainsRegex("ours +7-7 +1 +[0-9.]+ +- +sample"));
  EXPECT_THAT(run_program({"agreement", "--window", "8-9", "a.out"}, options).out,
              ContainsRegex("ours +8-9 +2 +2\\.5000 +0\\.7071 +sample"));
}

TEST(AgreementCommand, ReadsTheTreeOfTheVariableWhereNothingIsNamed) {
  const TemporaryFolder folder;
  folder.write("w/experiments/a.out", nemo_log(49));
  const std::string workload = folder.path() / "w";
  const ProgramRun run =
      run_program({"agreement"}, {folder.path(), {{"LLMB_WORKLOAD", workload}}, false});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("25.08 to 26.05"));
}

TEST(AgreementCommand, RefusesWhatIsNotThere) {
  const TemporaryFolder folder;
  const ProgramOptions options{folder.path(), {}, false};
  EXPECT_EQ(run_program({"agreement", "none.out"}, options).exit_code, 1);
  const ProgramRun nothing = run_program({"agreement"}, options);
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("set LLMB_WORKLOAD"));
  EXPECT_EQ(run_program({"agreement", "."}, options).exit_code, 1);
}

}  // namespace
}  // namespace llmb::cli
