// Every command by which the recipe documents read logs, in its exact words, run by a shell: where
// it names one of the recipes' two parsers, `llmb-report parse --compat` stands in its place, and
// prints what the shell parsers' equivalent does; what it greps for is what `parse` reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "parser/catalog/catalog.h"
#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

namespace fs = std::filesystem;
using parser::PublishedCommand;
using ::testing::HasSubstr;

struct ShellAnswer {
  int exit_code = -1;
  std::string out;
};

ShellAnswer run_shell(const fs::path& folder, const std::string& command) {
  const fs::path script = folder / "command.sh";
  std::ofstream(script) << "cd '" << folder.string() << "'\n" << command << '\n';
  FILE* const pipe = ::popen(("timeout 60 bash '" + script.string() + "'").c_str(), "r");
  ShellAnswer answer;
  std::array<char, 4096> buffer{};
  for (std::size_t length = 0; (length = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    answer.out.append(buffer.data(), length);
  }
  answer.exit_code = WEXITSTATUS(::pclose(pipe));
  return answer;
}

bool reads_logs(const PublishedCommand& command) {
  return command.text.find("parse_train_timing") != std::string::npos ||
         command.text.starts_with("grep ");
}

// `common/` as the recipes install it, with `program` for both parsers; the logs of one folder.
class Installation {
 public:
  explicit Installation(const TemporaryFolder& folder) : folder_(folder) {
    folder.write("experiments/log-a-a.pretrain_nemo_1_0.out", nemo_log(49));
    folder.write("experiments/log-a-a.pretrain_nemo_2_0.out", nemo_log(30));
    folder.write("experiments/log-a-a.pretrain_bridge_3_0.out", megatron_bridge_log(50));
    folder.write("experiments/log-a-a.pretrain_bridge_4_0.out", megatron_bridge_log(40));
  }

  // `program` is called with family, release, and the command's own words.
  ShellAnswer answer(const PublishedCommand& command, const std::string& program) {
    write_parser("parse_train_timing.sh", program + " nemo 25.05");
    write_parser("parse_train_timing_mbridge.sh", program + " mbridge 25.10");
    std::string text = command.text;
    const std::string placeholder = "/path/to/";
    if (const auto at = text.find(placeholder); at != std::string::npos) {
      text.replace(at, placeholder.size(), folder_.path().string() + "/");
    }
    return run_shell(folder_.path(), "export LLMB_WORKLOAD=$PWD LLMB_REPO=$PWD\n" + text);
  }

 private:
  void write_parser(const std::string& name, const std::string& call) {
    const fs::path file =
        folder_.write("common/" + name, "#!/bin/bash\nexec " + call + " \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
  }

  const TemporaryFolder& folder_;
};

fs::path executable(const TemporaryFolder& folder, const std::string& name,
                    const std::string& text) {
  const fs::path file = folder.write(name, "#!/bin/bash\nset -u\n" + text);
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

TEST(DocumentReadings, TheRecipesParsersAreParseCompat) {
  if (std::system("gawk --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gawk is not installed";
  const TemporaryFolder folder;
  Installation installation(folder);
  const std::string ours = executable(folder, "ours.sh",
                                      "family=$1@$2; shift 2\nexec " LLMB_BINARY_DIR
                                      "/bin/llmb-report"
                                      " parse --compat \"$family\" \"$@\"\n");
  const std::string equivalent = executable(
      folder, "equivalent.sh",
      "family=$1 release=$2 format=table folder=experiments; shift 2\n"
      "for word in \"$@\"; do case $word in --format=*) format=${word#*=} ;; *) folder=$word ;; "
      "esac; done\nexec " LLMB_SOURCE_DIR
      "/tests/server/compat/shell_equivalent.sh \"$family\" \"$release\" \"$format\" "
      "\"$folder\"\n");
  int walked = 0;
  for (const PublishedCommand& command : parser::embedded_catalog().commands) {
    if (command.text.find("parse_train_timing") == std::string::npos) continue;
    SCOPED_TRACE(command.document + ": " + command.text);
    const ShellAnswer answer = installation.answer(command, ours);
    EXPECT_EQ(answer.exit_code, 0) << answer.out;
    ++walked;
    if (command.text.ends_with("--full-names")) {
      EXPECT_THAT(answer.out, HasSubstr("log-a-a.pretrain_bridge_3_0.out"));
      continue;  // the equivalent has no such option
    }
    const ShellAnswer expected = installation.answer(command, equivalent);
    EXPECT_EQ(answer.out, expected.out);
    EXPECT_EQ(answer.exit_code, expected.exit_code);
    EXPECT_THAT(answer.out, HasSubstr("pretrain_"));
  }
  EXPECT_EQ(walked, 6);
}

// "grep -r --include '*.out' train_step_timing experiments", of which the last line counts.
TEST(DocumentReadings, WhatTheyGrepForIsTheLastStepOfParse) {
  const TemporaryFolder folder;
  int walked = 0;
  for (const PublishedCommand& command : parser::embedded_catalog().commands) {
    if (!command.text.starts_with("grep ")) continue;
    SCOPED_TRACE(command.document + ": " + command.text);
    const bool is_tree = command.text.ends_with(" experiments");
    folder.write((is_tree ? "experiments/log.out" : "log.out"), nemo_log(49));
    const ShellAnswer found = run_shell(folder.path(), command.text);
    const auto last = found.out.find("iteration 49/49");
    ASSERT_NE(last, std::string::npos) << found.out;
    EXPECT_THAT(found.out.substr(last), HasSubstr("train_step_timing in s: 3"));
    const ProgramRun parsed = run_program(
        {"parse", "--window", "last", "--format=json", is_tree ? "experiments" : "log.out"},
        {folder.path(), {}, false});
    EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
    EXPECT_THAT(parsed.out, HasSubstr("\"step_time_s_mean\":3.0"));
    ++walked;
  }
  EXPECT_EQ(walked, 2);
}

// No command of the catalog is left to neither this test nor to those of launching.
TEST(DocumentReadings, AndLaunchesAreAllThereIs) {
  for (const PublishedCommand& command : parser::embedded_catalog().commands) {
    const bool launches = command.text.find("launch.sh") != std::string::npos ||
                          command.text.find("llmb-run") != std::string::npos;
    EXPECT_NE(launches, reads_logs(command)) << command.text;
  }
}

}  // namespace
}  // namespace llmb::cli
