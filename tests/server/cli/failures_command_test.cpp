// `llmb-report failures`, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class FailuresCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tree/a/log_1.out", nemo_log(49));
    folder_.write("tree/b/log_2.out", nemo_log(20) + "srun: error: Node failure on gpu-04\n");
    const ProgramRun ingested =
        run({"ingest", "--once", "--allow-network-file-system", "--db", "runs.db", "tree"});
    ASSERT_EQ(ingested.exit_code, 0) << ingested.err;
  }
  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, options_);
  }

  const TemporaryFolder folder_;
  const ProgramOptions options_{folder_.path(), {}, false};
};

TEST_F(FailuresCommand, TellsWhatEndsRunsAndOnWhichNode) {
  const ProgramRun table = run({"failures", "--db", "runs.db"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("1 of 2 ended runs failed (50.0 %), 1 complete"));
  EXPECT_THAT(table.out, ContainsRegex("node_failure +1 +50.0 %"));
  EXPECT_THAT(table.out, ContainsRegex("gpu-04 +1 +1 node_failure"));
  const ProgramRun csv = run({"failures", "--db", "runs.db", "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr("\r\nnode_failure,,1,0.5,2,"));
  const json answer = json::parse(run({"failures", "--db", "runs.db", "--format", "json"}).out);
  EXPECT_EQ(answer.at("format"), "llmb-report failures");
  EXPECT_EQ(answer.at("nodes").at(0).at("node"), "gpu-04");
}

TEST_F(FailuresCommand, NarrowsWhatItCounts) {
  const ProgramRun none = run({"failures", "--db", "runs.db", "--before", "2000-01-01"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("no run of what was asked for has ended"));
  const ProgramRun wrong = run({"failures", "--db", "runs.db", "--since", "yesterday"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("'yesterday' is neither a date"));
}

// As the API takes them.
TEST_F(FailuresCommand, TakesValuesAsTheApiDoes) {
  EXPECT_EQ(run({"failures", "--db", "runs.db", "--cluster", "none"}).exit_code, 0);
  EXPECT_EQ(run({"failures", "--db", "runs.db", "--cluster", "eos"}).exit_code, 1);
}

TEST_F(FailuresCommand, SaysThatThereIsNoDatabase) {
  EXPECT_EQ(run({"failures", "--db", "none.db"}).exit_code, 1);
}

}  // namespace
}  // namespace llmb::cli
