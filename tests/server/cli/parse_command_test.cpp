// What a user meets first: help, arguments, exit codes, the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

const char* const kLlama = "pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64";

TEST(ParseCommand, TeachesItselfWithHelp) {
  const ProgramRun help = run_program({"parse", "--help"}, {});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* text : {"Examples:", "--window", "--format", "--samples", "--compat",
                           "parse_output.schema.json", "Exit status:"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
  EXPECT_EQ(run_program({"--help"}, {}).exit_code, 0);
  EXPECT_THAT(run_program({"--version"}, {}).out, HasSubstr("."));
}

TEST(ParseCommand, RefusesBadArguments) {
  const TemporaryFolder folder;
  const ProgramOptions options{folder.path(), {}, false};
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"nonsense"},
                                                    {"parse", "--format", "xml"},
                                                    {"parse", "--window", "44-11"},
                                                    {"parse", "--window", "x"},
                                                    {"parse", "--samples"},
                                                    {"parse", "--explain", "--format", "csv"},
                                                    {"parse", "--explain", "--compat", "nemo"},
                                                    {"parse", "--no-such-option"},
                                                    {"parse", "--compat", "nemo@19.99"}}) {
    const ProgramRun run = run_program(arguments, options);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(arguments);
    EXPECT_THAT(run.err + run.out, Not(IsEmpty()));
  }
}

TEST(ParseCommand, PrintsOneTableForAllDialects) {
  const TemporaryFolder folder;
  folder.write(experiment_log_path(kGrokExperiment, 388660), nemo_log(49));
  folder.write(experiment_log_path(kLlama, 658572), megatron_bridge_log(50));
  folder.write(experiment_log_path("pretrain_nemotron4_15b_bf16_16", 7), nemo_log(46));
  const ProgramRun run = run_program({"parse"}, {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_THAT(run.out, HasSubstr("seconds"));
  EXPECT_THAT(run.out, MatchesRegex("(.|\n)*\n" + std::string(kGrokExperiment) +
                                    "_388660 +complete +11-44 +34 +2\\.5000 +0\\.5075 +500\\.00 "
                                    "+0\\.00\n(.|\n)*"));
  EXPECT_THAT(run.out, MatchesRegex("(.|\n)*\n" + std::string(kLlama) +
                                    "_658572 +complete +35-44 +10 +1\\.5000 +0\\.0000 +700\\.00 "
                                    "+0\\.00\n(.|\n)*"));
  EXPECT_THAT(run.out, HasSubstr("incomplete"));
  EXPECT_THAT(run.out, HasSubstr("window 11-44 is whole; the run ended at iteration 46 of 49"));
  EXPECT_THAT(run.out, HasSubstr("3 logs: 2 complete, 1 incomplete"));
  EXPECT_THAT(run.out, Not(HasSubstr("\033["))) << "colour is for terminals";
}

TEST(ParseCommand, LeavesOutStepsThatACheckpointTouches) {
  const TemporaryFolder folder;
  std::string log = nemo_log(49);
  log.insert(log.find("Training epoch 0, iteration 20/"),
             "Global Checkpoint Save : Rank: 0 : Iteration: 19 : Start time: 1.0s : Save duration: "
             "0.1s\n");
  folder.write(experiment_log_path(kGrokExperiment, 1), log);
  const ProgramOptions options{folder.path(), {}, false};
  const ProgramRun with = run_program({"parse", "--format", "csv"}, options);
  EXPECT_THAT(with.out, HasSubstr("touched by checkpoint: 20"));
  const ProgramRun without =
      run_program({"parse", "--format", "csv", "--without", "checkpoint"}, options);
  EXPECT_EQ(without.exit_code, 0);
  EXPECT_THAT(without.out, HasSubstr("1 step of it left out"));
  // The table has no sentence for a complete run.
  const auto row_ends = [&](const std::vector<std::string>& further) {
    std::vector<std::string> words = {"parse"};
    words.insert(words.end(), further.begin(), further.end());
    return run_program(words, options).out;
  };
  EXPECT_THAT(row_ends({}), HasSubstr("  in its window checkpoint: 20\n"));
  EXPECT_THAT(row_ends({"--without", "checkpoint"}),
              HasSubstr("  in its window checkpoint: 20 (1 left out)\n"));
  // A run that is not complete has one, and that names none.
  folder.write(experiment_log_path(kGrokExperiment, 1),
               log.substr(0, log.find("Training epoch 0, iteration 47/")));
  EXPECT_THAT(row_ends({}), HasSubstr("; in its window checkpoint: 20\n"));
  EXPECT_EQ(run_program({"parse", "--without", "lunch"}, options).exit_code, 2);
  EXPECT_EQ(run_program({"parse", "--compat", "nemo", "--without", "all"}, options).exit_code, 2);
}

TEST(ParseCommand, ShowsPathsWithFullNames) {
  const TemporaryFolder folder;
  const std::string path = experiment_log_path(kGrokExperiment, 1);
  folder.write(path, nemo_log(49));
  const ProgramOptions options{folder.path(), {}, false};
  EXPECT_THAT(run_program({"parse", "--full-names"}, options).out, HasSubstr("\n" + path + " "));
  EXPECT_THAT(run_program({"parse"}, options).out,
              HasSubstr("\n" + std::string(kGrokExperiment) + "_1 "));
}

TEST(ParseCommand, ShowsPathsOfLogsWithOneName) {
  const TemporaryFolder folder;
  folder.write("experiments/before/run.log", nemo_log(49));
  folder.write("experiments/after/run.log", nemo_log(49));
  folder.write("experiments/after/other.log", nemo_log(49));
  const ProgramRun run = run_program({"parse", "experiments/before/run.log",
                                      "experiments/after/run.log", "experiments/after/other.log"},
                                     {folder.path(), {}, false});
  for (const char* name :
       {"experiments/before/run.log ", "experiments/after/run.log ", "other.log "}) {
    EXPECT_THAT(run.out, HasSubstr(std::string("\n") + name));
  }
}

TEST(ParseCommand, TakesAnotherWindow) {
  const TemporaryFolder folder;
  folder.write("experiments/a.out", nemo_log(49));
  const ProgramRun run = run_program({"parse", "--window", "20-21"}, {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, MatchesRegex("(.|\n)*complete +20-21 +2 +2\\.5000(.|\n)*"));
}

TEST(ParseCommand, ExitsWithOneWhenNothingIsComplete) {
  const TemporaryFolder folder;
  folder.write("experiments/a.out", nemo_log(20));
  const ProgramRun run = run_program({"parse"}, {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("the run ended at iteration 20 of 49"));
}

TEST(ParseCommand, LooksWhereTheRecipesVariablesPoint) {
  const TemporaryFolder folder;
  folder.write("workload/experiments/a.out", nemo_log(49));
  folder.write("stage/results/25.01/bf16/314b/512/b_1.out", nemo_log(49));
  folder.write("elsewhere/note", "");
  const auto elsewhere = folder.path() / "elsewhere";
  const std::string workload = folder.path() / "workload";
  const std::string stage = folder.path() / "stage";
  EXPECT_EQ(run_program({"parse"}, {elsewhere, {}, false}).exit_code, 1);
  EXPECT_THAT(
      run_program({"parse", "--full-names"}, {elsewhere, {{"LLMB_WORKLOAD", workload}}, false}).out,
      HasSubstr("experiments/a.out"));
  EXPECT_THAT(
      run_program({"parse", "--full-names"}, {elsewhere, {{"STAGE_PATH", stage}}, false}).out,
      HasSubstr("512/b_1.out"));
  EXPECT_THAT(run_program({"parse", "--full-names"},
                          {elsewhere, {{"LLMB_WORKLOAD", workload}, {"STAGE_PATH", stage}}, false})
                  .out,
              HasSubstr("experiments/a.out"));
}

// As `ingest` and `serve` do.
TEST(ParseCommand, ReadsAllOfAWorkloadsTree) {
  const TemporaryFolder folder;
  folder.write("w/experiments/a.out", nemo_log(49));
  folder.write("w/results/25.01/bf16/314b/512/b_1.out", nemo_log(49));
  folder.write("elsewhere/note", "");
  const ProgramRun named =
      run_program({"parse", "--full-names"},
                  {folder.path() / "elsewhere", {{"LLMB_WORKLOAD", folder.path() / "w"}}, false});
  EXPECT_THAT(named.out, AllOf(HasSubstr("experiments/a.out"), HasSubstr("512/b_1.out")));
  const ProgramRun here = run_program({"parse", "--full-names"}, {folder.path() / "w", {}, false});
  EXPECT_THAT(here.out, AllOf(HasSubstr("experiments/a.out"), HasSubstr("512/b_1.out")));
}

TEST(ParseCommand, SaysWhatToDoWhereThereIsNothing) {
  const TemporaryFolder folder;
  const ProgramOptions options{folder.path(), {}, false};
  const ProgramRun no_default = run_program({"parse"}, options);
  EXPECT_EQ(no_default.exit_code, 1);
  EXPECT_THAT(no_default.err, HasSubstr("set LLMB_WORKLOAD or LLMB_INSTALL"));
  EXPECT_THAT(no_default.out, IsEmpty());

  // A variable that names no tree does not mean this folder.
  folder.write("good/experiments/a.out", nemo_log(50));
  const ProgramRun no_tree = run_program(
      {"parse"}, {folder.path() / "good", {{"LLMB_INSTALL", folder.path() / "none"}}, false});
  EXPECT_EQ(no_tree.exit_code, 1);
  EXPECT_THAT(no_tree.err, HasSubstr("/none/workloads has no folder"));
  std::filesystem::remove_all(folder.path() / "good");

  const ProgramRun missing = run_program({"parse", "no/such/folder"}, options);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no/such/folder: No such file"));

  // Beside one that is read, too: its rows are there, and whoever goes on by the code is told.
  folder.write("good/experiments/a.out", nemo_log(50));
  const ProgramRun half = run_program({"parse", "no/such/folder", "good"}, options);
  EXPECT_EQ(half.exit_code, 1);
  EXPECT_THAT(half.err, HasSubstr("no/such/folder: No such file"));
  EXPECT_THAT(half.out, HasSubstr("complete"));
  std::filesystem::remove_all(folder.path() / "good");

  const ProgramRun empty = run_program({"parse", "."}, options);
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_THAT(empty.err, HasSubstr("no training log"));
}

TEST(ParseCommand, SaysWhatLiesWhereNoLogHasTheNameOfOne) {
  const TemporaryFolder folder;
  folder.write("runs/a/train.log", nemo_log(49));
  folder.write("runs/b/train.log", nemo_log(49));
  folder.write("runs/b/notes.md", "x");
  const ProgramRun none = run_program({"parse", "runs"}, {folder.path(), {}, false});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err,
              HasSubstr("no training log (*.out) could be read below 'runs'; there are 3 other "
                        "files, 2 of them *.log or *.txt: name such a log itself to read it, as "
                        "'runs/a/train.log'"));
  EXPECT_EQ(run_program({"parse", "runs/a/train.log"}, {folder.path(), {}, false}).exit_code, 0);
}

TEST(ParseCommand, FailsWhenItsOutputCannotBeWritten) {
  const TemporaryFolder folder;
  folder.write("experiments/a.out", nemo_log(49));
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  ProgramOptions options{folder.path(), {}, false};
  options.out_file = "/dev/full";
  for (const std::string command : {"parse", "audit", "manual", "--help", "--version"}) {
    const ProgramRun run = run_program({command}, options);
    EXPECT_EQ(run.exit_code, 1) << command;
    EXPECT_THAT(run.err, HasSubstr("the output could not be written")) << command;
    EXPECT_THAT(run.err, Not(HasSubstr("Success"))) << command;
  }
}

}  // namespace
}  // namespace llmb::cli
