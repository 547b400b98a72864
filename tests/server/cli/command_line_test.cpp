// What every subcommand shares: help, the version, and words that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/server/unpacking/packed_bytes.h"
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
  EXPECT_THAT(run_with_typo.err, HasSubstr("\nllmb-report help parse lists what there is.\n"));
  EXPECT_THAT(run({"compare", "--wibdow=1-2", "."}).err, HasSubstr("did you mean '--window'?"));
}

TEST_F(CommandLine, NamesTheOptionOfAPartOfACommand) {
  const ProgramRun job_log = run({"jobs", "log", "7", "--folow"});
  EXPECT_EQ(job_log.exit_code, 2);
  EXPECT_THAT(job_log.err, HasSubstr("there is no option '--folow'; did you mean '--follow'?"));
  EXPECT_THAT(job_log.err, HasSubstr("\nllmb-report help jobs log lists what there is.\n"));
  EXPECT_THAT(run({"token", "create", "ci", "--scop", "submit"}).err,
              HasSubstr("did you mean '--scope'?"));
}

TEST_F(CommandLine, SaysThatAnOptionStandsBehindItsCommand) {
  const ProgramRun before = run({"--db", "x.db", "history"});
  EXPECT_EQ(before.exit_code, 2);
  EXPECT_THAT(before.err, HasSubstr("the option '--db' stands behind the command: "
                                    "llmb-report history --db\n"));
}

TEST_F(CommandLine, KnowsWhatOtherProgramsCallItsOptions) {
  EXPECT_THAT(run({"serve", "--port", "8080"}).err,
              HasSubstr("there is no option '--port'; --listen ADDR:PORT says where to listen\n"));
  EXPECT_THAT(run({"compare", "--json", "."}).err, HasSubstr("; --format json prints JSON\n"));
  EXPECT_THAT(run({"prune", "--dry-run"}).err, HasSubstr("; without --yes it only shows"));
  const ProgramRun nothing_instead = run({"parse", "--port", "8080"});
  EXPECT_EQ(nothing_instead.exit_code, 2);
  EXPECT_THAT(nothing_instead.err, Not(HasSubstr("--listen")));
}

// As `parse`, `ingest` and `serve` choose them, too.
TEST_F(CommandLine, BackfillSaysWhereItsTreesComeFrom) {
  EXPECT_THAT(run({"help", "backfill"}).out, HasSubstr("$LLMB_INSTALL/workloads"));
}

// The server refuses a job that comes as a form, which is what curl calls it by itself.
TEST_F(CommandLine, TheExampleOfATokenIsTaken) {
  EXPECT_THAT(run({"help", "token"}).out, HasSubstr("-H 'Content-Type: application/json'"));
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

// What bash completes `llmb-report WORDS` to.
std::string completed(const std::string& script, const std::string& words, int at) {
  const std::string file = script + "\nCOMP_WORDS=(llmb-report " + words +
                           ")\nCOMP_CWORD=" + std::to_string(at) +
                           "\n_llmb_report\necho \"${COMPREPLY[@]}\"\n";
  const TemporaryFolder folder;
  std::ofstream(folder.file("complete.sh")) << file;
  const std::string out = folder.file("out");
  const std::string command = "bash " + folder.file("complete.sh") + " >" + out;
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT: names of our own
  std::ifstream answer(out);
  std::string line;
  std::getline(answer, line);
  return line;
}

TEST_F(CommandLine, ShellsCompleteItsCommandsAndOptions) {
  const ProgramRun bash = run({"completion", "bash"});
  EXPECT_EQ(bash.exit_code, 0);
  EXPECT_EQ(completed(bash.out, "pa", 1), "parse");
  EXPECT_EQ(completed(bash.out, "parse --metr", 2), "--metrics");
  EXPECT_THAT(completed(bash.out, "token cre", 2), HasSubstr("create"));
  const ProgramRun zsh = run({"completion", "zsh"});
  EXPECT_EQ(zsh.exit_code, 0);
  EXPECT_THAT(zsh.out, HasSubstr("#compdef llmb-report"));
  EXPECT_THAT(zsh.out, HasSubstr("'--metrics:"));
  EXPECT_THAT(zsh.out, HasSubstr("\n  _llmb_report \"$@\"\n"));
  EXPECT_EQ(run({"completion", "fish"}).exit_code, 2);
}

// zsh loads it by its name at the first completion, which has to complete already.
TEST_F(CommandLine, ZshCompletesFromTheFirstTab) {
  if (std::system("zsh -fc : 2>/dev/null") != 0) GTEST_SKIP() << "needs zsh";  // NOLINT
  std::ofstream(folder_.file("_llmb-report")) << run({"completion", "zsh"}).out;
  std::ofstream(folder_.file("complete.zsh")) << "fpath=(" << folder_.path().string() << R"( $fpath)
_describe() { print -r -- "$1: ${(P)2[(r)parse:*]}" }
autoload -U _llmb-report
words=(llmb-report pa)
CURRENT=2
_llmb-report
_llmb-report
)";
  const std::string out = folder_.file("out");
  const std::string command = "zsh -f " + folder_.file("complete.zsh") + " >" + out;
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT: names of our own
  std::ifstream answer(out);
  for (const char* time : {"first", "second"}) {
    std::string line;
    std::getline(answer, line);
    EXPECT_THAT(line, HasSubstr("command: parse:")) << time;
  }
}

TEST_F(CommandLine, HasAManualPage) {
  const ProgramRun manual = run({"manual"});
  EXPECT_EQ(manual.exit_code, 0);
  for (const char* part :
       {".TH LLMB", ".SH COMMANDS", ".SS parse", "\\-\\-metrics", ".SS token create"}) {
    EXPECT_THAT(manual.out, HasSubstr(part));
  }
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

// A copy that was cut off is no log that could not be read.
TEST_F(CommandLine, IngestTellsOnceThatALogIsReadInPart) {
  const std::string packed = unpacking::gzipped(nemo_log(49));
  const auto log = folder_.write("tree/a.out.gz", packed.substr(0, packed.size() - 8));
  const auto an_hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(log, an_hour_ago);
  const auto ingest = [&](const char* gpu_type) {
    return run({"ingest", "--once", "--db", "x.db", "--gpu-type", gpu_type, "tree"});
  };
  const ProgramRun first = ingest("h100");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err,
              HasSubstr("tree/a.out.gz: the compressed file ends in the middle, after "));
  EXPECT_THAT(first.err, HasSubstr("it was read up to there"));
  for (const char* const gpu_type : {"h100", "gb200"}) {
    const ProgramRun later = ingest(gpu_type);
    EXPECT_EQ(later.exit_code, 0) << later.err;
    EXPECT_THAT(later.err, Not(HasSubstr("ends in the middle"))) << "judged anew it is as it was";
  }
}

}  // namespace
}  // namespace llmb::cli
