// Which runs `compare`, `scaling` and `history` are asked for, and how they are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Four runs of two releases; job 15 names none.
class ComparingOptions : public ::testing::Test {
 protected:
  ComparingOptions() {
    for (int job = 11; job <= 15; ++job) {
      const std::string path = experiment_log_path(kGrokExperiment, job);
      folder_.write(path, "job " + std::to_string(job) + "\n" + nemo_log(49));
      if (job == 15) continue;
      folder_.write(
          path.substr(0, path.rfind('/')) + "/llmb-config_" + std::to_string(job) + ".yaml",
          "job_info:\n  job_id: '" + std::to_string(job) +
              "'\nmodel_info:\n  model_name: grok1\n  model_size: 314b\n  dtype: fp8\n"
              "  scale: 128\n  gpu_type: gb200\nworkload_info:\n  gsw_version: '" +
              (job < 13 ? "25.05" : "25.08") + "'\n");
    }
  }

  ProgramRun run(const std::vector<std::string>& arguments) {
    return run_program(arguments, {folder_.path(), {}, false});
  }

  void ingest() {
    const ProgramRun program = run({"ingest", "--once", "--db", "runs.db", "experiments"});
    ASSERT_EQ(program.exit_code, 0) << program.err;
  }

  TemporaryFolder folder_;
};

TEST_F(ComparingOptions, ARunOnBothSidesIsRefused) {
  ingest();
  for (const std::vector<std::string>& sides :
       {std::vector<std::string>{"--base", "1", "2", "--candidate", "3", "2"},
        std::vector<std::string>{"2", "2"}, std::vector<std::string>{"1,2", "2,3"}}) {
    std::vector<std::string> arguments = {"compare", "--db", "runs.db"};
    arguments.insert(arguments.end(), sides.begin(), sides.end());
    const ProgramRun refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("run 2 is on both sides"));
  }
}

TEST_F(ComparingOptions, IdsMayStandBetweenCommas) {
  ingest();
  const auto groups = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compare", "--db", "runs.db", "--format", "json"});
    return json::parse(run(arguments).out).at("comparisons").at(0).at("groups");
  };
  EXPECT_EQ(groups({"--base", "1,2", "--candidate", "3,4"})[1].at("run_ids"), json::array({3, 4}));
  const json sides = groups({"1,2", "3"});
  EXPECT_EQ(sides.at(0).at("name"), "runs 1,2");
  EXPECT_EQ(sides.at(1).at("name"), "run 3");
  const ProgramRun refused = run({"compare", "--db", "runs.db", "1,,2", "3"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'' is no run id"));
}

TEST_F(ComparingOptions, OnlyRunsOfAReleaseAreTaken) {
  ingest();
  const auto count_of = [&](const std::vector<std::string>& arguments, const std::string& word) {
    const std::string out = run(arguments).out;
    std::size_t count = 0;
    for (auto at = out.find(word); at != std::string::npos; at = out.find(word, at + 1)) ++count;
    return count;
  };
  const std::string job = "\"job_id\":";
  for (const std::string command : {"compare", "scaling", "history"}) {
    EXPECT_EQ(count_of({command, "--release", "25.08", "--format", "json", "experiments"}, job), 2U)
        << command;
    EXPECT_EQ(count_of({command, "--release", "25.08", "--format", "json", "--db", "runs.db"}, job),
              2U)
        << command;
  }
  const ProgramRun none = run({"history", "--release", "26.01", "experiments"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("no run names the release '26.01'; they are of: 25.05, 25.08"));
}

TEST_F(ComparingOptions, AGpuTypeThatIsNotKnownIsNotTold) {
  folder_.write("unknown/a.out", nemo_log(49));
  for (const std::string command : {"compare", "scaling", "history"}) {
    const ProgramRun refused = run({command, "--gpu-type", "gb200", "unknown"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("; of one run no GPU type is known")) << command;
  }
}

}  // namespace
}  // namespace llmb::cli
