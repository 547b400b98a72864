// Logs that lie twice in what `compare` and `history` read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Two runs, and before them in the order of reading copies whose names say nothing.
class CopiedLogs : public ::testing::Test {
 protected:
  CopiedLogs() {
    for (const int job : {11, 12}) {
      const std::string path = "all/" + experiment_log_path(kGrokExperiment, job);
      const std::string text = "job " + std::to_string(job) + "\n" + nemo_log(49);
      folder_.write(path, text);
      folder_.write("all/0_" + std::to_string(job) + ".out", text);
    }
  }

  json answer(const std::string& command, const std::vector<std::string>& names) {
    std::vector<std::string> arguments = {command, "--format", "json"};
    arguments.insert(arguments.end(), names.begin(), names.end());
    const ProgramRun program = run_program(arguments, {folder_.path(), {}, false});
    return json::parse(program.out);
  }

  TemporaryFolder folder_;
};

TEST_F(CopiedLogs, AreInNoComparisonOfTheirOwn) {
  const json comparisons = answer("compare", {"all"}).at("comparisons");
  ASSERT_EQ(comparisons.size(), 1U);
  const json& runs = comparisons[0].at("runs");
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_THAT(runs[0].at("exclusion").get<std::string>(), HasSubstr("the same bytes as that of"));
  EXPECT_EQ(comparisons[0].at("groups")[0].at("run_ids"), json::array({3, 4}));
}

TEST_F(CopiedLogs, AreNoScaleOfTheirOwn) {
  folder_.write("other/" + experiment_log_path(kGrokExperiment, 13), "job 13\n" + nemo_log(49));
  const json comparisons = answer("compare", {"all", "other"}).at("comparisons");
  ASSERT_EQ(comparisons.size(), 1U);
  EXPECT_EQ(comparisons[0].at("groups")[0].at("run_ids").size(), 2U);
}

TEST_F(CopiedLogs, AreInNoHistoryOfTheirOwn) {
  const json series = answer("history", {"all"}).at("series");
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].at("copies").size(), 2U);
}

}  // namespace
}  // namespace llmb::cli
