// `llmb-report ingest --once --push`, as who runs it from cron meets it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PushCommand : public ::testing::Test {
 protected:
  PushCommand() { folder_.write("token", "llmb_none"); }

  // To port 9 of the loopback, where nobody listens.
  ProgramRun push(const std::vector<std::string>& options,
                  const std::string& server = "http://127.0.0.1:9") const {
    std::vector<std::string> words = {"ingest", "--once", "--db",      "runs.db",
                                      "--push", server,   "--cluster", "eos"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("t");
    return run_program(words, {folder_.path(), {}, false});
  }
  void write_log(int job_id) const {
    folder_.write(fmt::format("t/experiments/x/x_{0}/log-a_{0}_0.out", job_id), nemo_log(49));
  }

  const TemporaryFolder folder_;
};

TEST_F(PushCommand, SaysWhatWaitsWhileNoServerAnswers) {
  write_log(1);
  write_log(2);
  const ProgramRun run = push({"--token-file", "token", "--push-patience", "1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("pushing: 2 logs to go, 0 answered; "),
                             HasSubstr("Trying on, until nothing was taken for 1 s."),
                             HasSubstr("not pushed yet: 2 logs: cannot ask 127.0.0.1:9: "),
                             HasSubstr(". The next run goes on from there.")));
  EXPECT_THAT(run.err, ::testing::Not(HasSubstr("..")));
}

// With the patience of a minute it would outlast the test.
TEST_F(PushCommand, EndsAtOnceWhereNoTokenCanBeRead) {
  write_log(1);
  const ProgramRun run = push({"--token-file", "nosuch", "--push-patience", "86400"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("not pushed yet: 1 log: cannot read a token from nosuch."),
                             HasSubstr("The next run goes on from there.")));
}

TEST_F(PushCommand, RefusesCertificatesThatItCannotUse) {
  write_log(1);
  folder_.write("no.pem", "no certificate");
  const auto push_by = [&](const char* ca_file) {
    return push({"--token-file", "token", "--ca-file", ca_file}, "https://127.0.0.1:9");
  };
  const ProgramRun missing = push_by("nosuch.pem");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--ca-file: cannot use the certificates in nosuch.pem (a PEM "
                                     "file): No such file or directory"));
  EXPECT_EQ(push_by("no.pem").exit_code, 2);
}

// Without a log there is nothing to count.
TEST_F(PushCommand, SaysWhereItIsNotKnownWhatTheServerLacks) {
  folder_.write("t/experiments/x/none", "");
  const ProgramRun run = push({"--token-file", "token", "--push-patience", "1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("pushing: an unknown number of logs to go, 0 answered; "),
                             HasSubstr("(the server has not said which it has): cannot ask ")));
}

TEST_F(PushCommand, SaysHowLongItWaits) {
  const ProgramRun run = run_program({"ingest", "--help"}, {});
  EXPECT_THAT(run.out, AllOf(HasSubstr("--push-patience"), HasSubstr("=60"),
                             HasSubstr("took nothing for a minute")));
}

}  // namespace
}  // namespace llmb::cli
