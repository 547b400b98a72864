// `llmb-report ingest --once --push`, as who runs it from cron meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Port 9 of the loopback, where nobody listens.
TEST(PushCommand, SaysWhatWaitsWhileNoServerAnswers) {
  const TemporaryFolder folder;
  folder.write("t/experiments/x/x_1/log-a_1_0.out", nemo_log(49));
  folder.write("t/experiments/x/x_2/log-a_2_0.out", nemo_log(49));
  folder.write("token", "llmb_none");
  const ProgramRun run =
      run_program({"ingest", "--once", "--db", "runs.db", "--push", "http://127.0.0.1:9",
                   "--token-file", "token", "--cluster", "eos", "--push-patience", "1", "t"},
                  {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("pushing: 2 logs to go, 0 answered; "),
                             HasSubstr("Trying on, until nothing was taken for 1 s."),
                             HasSubstr("not pushed yet: 2 logs: cannot ask 127.0.0.1:9: "),
                             HasSubstr(". The next run goes on from there.")));
  EXPECT_THAT(run.err, ::testing::Not(HasSubstr("..")));
}

// With the patience of a minute it would outlast the test.
TEST(PushCommand, EndsAtOnceWhereNoTokenCanBeRead) {
  const TemporaryFolder folder;
  folder.write("t/experiments/x/x_1/log-a_1_0.out", nemo_log(49));
  const ProgramRun run =
      run_program({"ingest", "--once", "--db", "runs.db", "--push", "http://127.0.0.1:9",
                   "--token-file", "nosuch", "--cluster", "eos", "--push-patience", "86400", "t"},
                  {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("not pushed yet: 1 log: cannot read a token from nosuch."),
                             HasSubstr("The next run goes on from there.")));
}

TEST(PushCommand, RefusesCertificatesThatItCannotUse) {
  const TemporaryFolder folder;
  folder.write("t/experiments/x/x_1/log-a_1_0.out", nemo_log(49));
  folder.write("token", "llmb_none");
  folder.write("no.pem", "no certificate");
  const auto push = [&](const char* ca_file) {
    return run_program({"ingest", "--once", "--db", "runs.db", "--push", "https://127.0.0.1:9",
                        "--token-file", "token", "--cluster", "eos", "--ca-file", ca_file, "t"},
                       {folder.path(), {}, false});
  };
  const ProgramRun missing = push("nosuch.pem");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--ca-file: cannot use the certificates in nosuch.pem (a PEM "
                                     "file): No such file or directory"));
  EXPECT_EQ(push("no.pem").exit_code, 2);
}

// Without a log there is nothing to count.
TEST(PushCommand, SaysWhereItIsNotKnownWhatTheServerLacks) {
  const TemporaryFolder folder;
  folder.write("t/experiments/x/none", "");
  folder.write("token", "llmb_none");
  const ProgramRun run =
      run_program({"ingest", "--once", "--db", "runs.db", "--push", "http://127.0.0.1:9",
                   "--token-file", "token", "--cluster", "eos", "--push-patience", "1", "t"},
                  {folder.path(), {}, false});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("pushing: an unknown number of logs to go, 0 answered; "),
                             HasSubstr("(the server has not said which it has): cannot ask ")));
}

TEST(PushCommand, SaysHowLongItWaits) {
  const ProgramRun run = run_program({"ingest", "--help"}, {});
  EXPECT_THAT(run.out, AllOf(HasSubstr("--push-patience"), HasSubstr("=60"),
                             HasSubstr("took nothing for a minute")));
}

}  // namespace
}  // namespace llmb::cli
