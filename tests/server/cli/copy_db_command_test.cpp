// `llmb-report copy-db`, as a user meets it; and what every other command says of the half.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "storage/database_copy.h"
#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/storage/execute_sql.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class CopyDb : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tree/a/log_1.out", nemo_log(49));
    folder_.write("tree/b/log_2.out", megatron_bridge_log(20));
    const ProgramRun run = ingest("runs.db");
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, options_);
  }
  ProgramRun ingest(const std::string& database) const {
    return run({"ingest", "--once", "--allow-network-file-system", "--db", database, "tree"});
  }
  ProgramRun copy(const std::string& from, const std::string& to) const {
    return run({"copy-db", "--allow-network-file-system", from, to});
  }
  // As a copy leaves it that is killed when all runs are there.
  void copy_half() const {
    storage::DatabaseCopy copy(folder_.file("runs.db"), {folder_.file("copy.db"), true});
    EXPECT_EQ(copy.copy_some_runs(), 2);
  }

  const TemporaryFolder folder_;
  const ProgramOptions options_{folder_.path(), {}, false};
};

TEST_F(CopyDb, CopiesAndShowsWhatWasCompared) {
  const ProgramRun copied = copy("runs.db", "copy.db");
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_THAT(copied.err, AllOf(HasSubstr("To copy: 2 runs with 70 steps."),
                                HasSubstr("copy.db holds all of runs.db"), Not(HasSubstr("\x1b")),
                                Not(HasSubstr("Going on"))));
  EXPECT_THAT(copied.out, ::testing::ContainsRegex("step_sample +70 +[0-9a-f]{16} +same"));
  EXPECT_THAT(copied.out, Not(HasSubstr("DIFFERENT")));
  const ProgramRun doctor = run({"doctor", "--db", "copy.db"});
  EXPECT_EQ(doctor.exit_code, 0) << doctor.out;
  EXPECT_THAT(doctor.out, HasSubstr("2 runs, 70 steps"));
  const ProgramRun again = ingest("copy.db");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(run({"doctor", "--db", "copy.db"}).out, HasSubstr("2 runs, 70 steps"))
      << "nothing is read again";
}

TEST_F(CopyDb, TheHalfIsRefusedByAllAndGoneOnWith) {
  copy_half();
  const auto says_how_to_go_on = HasSubstr("Go on with `llmb-report copy-db " +
                                           folder_.file("runs.db") + " " + folder_.file("copy.db"));
  const std::vector<std::vector<std::string>> commands = {
      {"ingest", "--once", "--allow-network-file-system", "--db", "copy.db", "tree"},
      {"serve", "--listen", "127.0.0.1:0", "--allow-network-file-system", "--db", "copy.db",
       "tree"},
      {"doctor", "--db", "copy.db"},
      {"compare", "--db", "copy.db", "1", "2"},
      {"history", "--db", "copy.db"},
      {"token", "list", "--allow-network-file-system", "--db", "copy.db"},
      {"copy-db", "--allow-network-file-system", "copy.db", "third.db"}};
  for (const auto& command : commands) {
    const ProgramRun refused = run(command);
    EXPECT_EQ(refused.exit_code, 1) << command.front();
    EXPECT_THAT(refused.out + refused.err, says_how_to_go_on) << command.front();
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "third.db"));
  const ProgramRun copied = copy("runs.db", "copy.db");
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_THAT(copied.err, AllOf(HasSubstr("Going on: 2 runs are there"),
                                HasSubstr("To copy: 0 runs with 0 steps.")));
  EXPECT_EQ(run({"doctor", "--db", "copy.db"}).exit_code, 0);
}

TEST_F(CopyDb, PreparesWhatALaterCallMakesWhole) {
  const ProgramRun prepared =
      run({"copy-db", "--prepare", "--allow-network-file-system", "runs.db", "copy.db"});
  EXPECT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_THAT(prepared.err, HasSubstr("without --prepare makes it whole"));
  EXPECT_EQ(run({"doctor", "--db", "copy.db"}).exit_code, 1);
  folder_.write("tree/a/log_1.out", nemo_log(49) + "one more line\n");
  folder_.write("tree/c/log_3.out", nemo_log(9));
  ASSERT_EQ(ingest("runs.db").exit_code, 0);
  const ProgramRun copied = copy("runs.db", "copy.db");
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_THAT(copied.err, HasSubstr("Going on: 1 runs are there, 1 of before have changed"));
  EXPECT_THAT(run({"doctor", "--db", "copy.db"}).out, HasSubstr("3 runs, 80 steps"));
}

TEST_F(CopyDb, ADifferenceIsNamedAndNotServed) {
  copy_half();
  storage::execute_sql(folder_.file("copy.db"), "DELETE FROM step_sample WHERE iteration = 7");
  for (int i = 0; i < 2; ++i) {
    const ProgramRun copied = copy("runs.db", "copy.db");
    EXPECT_EQ(copied.exit_code, 1);
    EXPECT_THAT(copied.out,
                ::testing::ContainsRegex("step_sample +70 .*DIFFERENT: the copy has 68"));
    EXPECT_THAT(copied.err, HasSubstr("does not hold what runs.db holds, in: step_sample."));
  }
  EXPECT_EQ(run({"doctor", "--db", "copy.db"}).exit_code, 1);
}

TEST_F(CopyDb, RefusesAndSaysWhatToDo) {
  const ProgramRun same = copy("runs.db", "./runs.db");
  EXPECT_EQ(same.exit_code, 1);
  EXPECT_THAT(same.err, HasSubstr("it is the same database"));
  const ProgramRun missing = copy("none.db", "copy.db");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.db"));
  EXPECT_FALSE(fs::exists(folder_.path() / "copy.db"));
  EXPECT_EQ(run({"copy-db", "runs.db"}).exit_code, 2);
}

// A limit on the size of files stands in for the full disk; the program inherits it.
TEST_F(CopyDb, SaysWhatToDoOnceTheDiskHasRoom) {
  const auto signals_before = signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{100'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const ProgramRun full = copy("runs.db", "copy.db");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, signals_before);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, AllOf(HasSubstr("Free some space"), HasSubstr("nothing was half-written"),
                              HasSubstr("Once there is room, run it again;"),
                              Not(HasSubstr("ingest goes on"))));
  EXPECT_EQ(copy("runs.db", "copy.db").exit_code, 0);
}

TEST_F(CopyDb, TeachesWhatItDoes) {
  const ProgramRun help = run({"copy-db", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("the same command goes on where it stopped"),
                              HasSubstr("Exit codes: 0 copied, and the same")));
}

}  // namespace
}  // namespace llmb::cli
