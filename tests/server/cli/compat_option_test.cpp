// The drop-in: `parse --compat` hands its options to the shell parsers' twin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::HasSubstr;

TEST(CompatOption, PrintsWhatTheReleasesShellParserPrints) {
  const TemporaryFolder folder;
  folder.write("experiments/log-a-a.pretrain_x_1_0.out", nemo_log(49));
  folder.write("runs/log-a-a.pretrain_y_2_0.out", megatron_bridge_log(50));
  const ProgramOptions options{folder.path(), {{"LLMB_WORKLOAD", "/nowhere"}}, false};

  const ProgramRun nemo = run_program({"parse", "--compat", "nemo"}, options);
  EXPECT_EQ(nemo.exit_code, 0) << nemo.err;
  EXPECT_THAT(nemo.out, HasSubstr("Train Step Timing and TFLOPS Analysis (iterations 11-44)"));
  EXPECT_THAT(nemo.out, HasSubstr("pretrain_x_1"));

  const ProgramRun later = run_program({"parse", "--compat=nemo@25.10"}, options);
  EXPECT_THAT(later.out, HasSubstr("(iterations 35-44)"));

  const ProgramRun mbridge =
      run_program({"parse", "--compat", "mbridge@25.12", "--format=csv", "runs"}, options);
  EXPECT_EQ(mbridge.exit_code, 0) << mbridge.err;
  EXPECT_THAT(mbridge.out, HasSubstr("1500.000"));
  EXPECT_THAT(mbridge.out, HasSubstr("700.00"));

  const ProgramRun none = run_program({"parse", "--compat", "nemo", "runs"}, options);
  EXPECT_EQ(none.exit_code, 1);
}

TEST(CompatOption, RefusesWhatTheShellParsersDoNotHave) {
  const TemporaryFolder folder;
  const ProgramOptions options{folder.path(), {}, false};
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"a", "b"}, {"--window", "1-2"}, {"--format=json", "--samples"}}) {
    std::vector<std::string> all = {"parse", "--compat", "nemo"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(run_program(all, options).exit_code, 2) << ::testing::PrintToString(arguments);
  }
}

}  // namespace
}  // namespace llmb::cli
