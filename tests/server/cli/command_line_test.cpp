// What every subcommand shares: help, the version, and words that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/cli/program_run.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class CommandLine : public ::testing::Test {
 protected:
  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, {folder_.path(), {}, false});
  }
  TemporaryFolder folder_;
};

TEST_F(CommandLine, NamesTheCommandThatWasMeant) {
  const ProgramRun swapped = run({"prase", "."});
  EXPECT_EQ(swapped.exit_code, 2);
  EXPECT_THAT(swapped.err, HasSubstr("there is no command 'prase'; did you mean 'parse'?"));
  EXPECT_THAT(run({"agreemnt"}).err, HasSubstr("did you mean 'agreement'?"));
  const ProgramRun strange = run({"xylophone"});
  EXPECT_EQ(strange.exit_code, 2);
  EXPECT_THAT(strange.err, HasSubstr("there is no command 'xylophone'\n"));
  EXPECT_THAT(strange.err, Not(HasSubstr("did you mean")));
}

TEST_F(CommandLine, NamesTheOptionThatWasMeant) {
  const ProgramRun run_with_typo = run({"parse", "--metrisc", "."});
  EXPECT_EQ(run_with_typo.exit_code, 2);
  EXPECT_THAT(run_with_typo.err,
              HasSubstr("there is no option '--metrisc'; did you mean '--metrics'?"));
  EXPECT_THAT(run({"compare", "--wibdow=1-2", "."}).err, HasSubstr("did you mean '--window'?"));
}

TEST_F(CommandLine, HelpIsACommandToo) {
  const ProgramRun all = run({"help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.out, run({"--help"}).out);
  for (const char* command : {"parse", "serve", "ingest", "compare", "doctor"}) {
    EXPECT_THAT(all.out, HasSubstr(command));
  }
  const ProgramRun one = run({"help", "compare"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.out, run({"compare", "--help"}).out);
  EXPECT_EQ(run({"help", "comparr"}).exit_code, 2);
}

TEST_F(CommandLine, SaysItsVersion) {
  const ProgramRun version = run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+( \\([0-9a-f]+(-dirty)?\\))?\n"));
}

TEST_F(CommandLine, RefusesAnUnknownLogLevel) {
  EXPECT_EQ(run({"ingest", "--once", "--log-level", "chatty", "."}).exit_code, 2);
  EXPECT_EQ(run({"ingest", "--once", "--log-level", "debug", "--db", "x.db", "."}).exit_code, 0);
}

}  // namespace
}  // namespace llmb::cli
