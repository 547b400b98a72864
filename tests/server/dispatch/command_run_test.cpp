#include "server/dispatch/command_run.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/patience.h"

namespace llmb::dispatch {
namespace {

using End = CommandResult::End;

CommandRun shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin"}, kTestPatience, 1 << 20};
}

TEST(CommandRun, GivesOutputErrorsAndExitCode) {
  const CommandResult result = run_command(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(CommandRun, PassesNothingOfItsOwnEnvironment) {
  setenv("LLMB_LEAK", "leaked", 1);
  const CommandResult result = run_command({{"/usr/bin/env"}, {"ONLY=this one"}});
  EXPECT_EQ(result.output, "ONLY=this one\n");
}

TEST(CommandRun, PassesEveryArgumentAsItStands) {
  const CommandResult result =
      run_command({{"/usr/bin/printf", "[%s]", "--wrap=x", "a\nb", "$(id);'\"", ""}, {}});
  EXPECT_EQ(result.output, "[--wrap=x][a\nb][$(id);'\"][]");
}

TEST(CommandRun, EndsWhatHangsWithWhatItStarted) {
  CommandRun command = shell("sleep 600 & sleep 600");
  command.deadline = std::chrono::milliseconds(200);
  EXPECT_EQ(run_command(command).end, End::timed_out);
}

TEST(CommandRun, LetsBeWhatAProgramThatEndedLeftBehind) {
  const CommandResult result = run_command(shell("sleep 600 >/dev/null 2>&1 & echo $!"));
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(kill(std::stoi(result.output), SIGKILL), 0);
}

TEST(CommandRun, BoundsTheOutput) {
  CommandRun command = shell("exec cat /dev/zero");
  command.output_bytes_max = 100'000;
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.end, End::output_too_long);
  EXPECT_EQ(result.output.size(), 100'000U);
}

TEST(CommandRun, SaysWhyNothingWasStarted) {
  const CommandResult result = run_command({{"/nowhere/sbatch"}, {}});
  EXPECT_EQ(result.end, End::not_started);
  EXPECT_EQ(result.errors, "No such file or directory");
}

}  // namespace
}  // namespace llmb::dispatch
