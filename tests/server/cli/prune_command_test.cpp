// `llmb-report prune`, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "storage/database.h"
#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Prune : public ::testing::Test {
 protected:
  void SetUp() override {
    write_log("tree/a/log_1.out", nemo_log(49), 500);
    write_log("tree/b/log_2.out", megatron_bridge_log(50), 3);
    const ProgramRun run = ingest();
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  void write_log(const std::string& path, const std::string& text, int days_ago) {
    folder_.write(path, text);
    fs::last_write_time(folder_.file(path),
                        fs::file_time_type::clock::now() - std::chrono::hours(24 * days_ago));
  }

  ProgramRun run(const std::vector<std::string>& arguments) const {
    return run_program(arguments, options_);
  }
  ProgramRun ingest() const {
    return run({"ingest", "--once", "--allow-network-file-system", "--db", "runs.db", "tree"});
  }
  ProgramRun prune(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"prune", "--allow-network-file-system", "--db", "runs.db"});
    return run(arguments);
  }
  std::int64_t count() const { return storage::Reader(folder_.file("runs.db")).run_count({}); }

  const TemporaryFolder folder_;
  const ProgramOptions options_{folder_.path(), {}, false};
};

TEST_F(Prune, ShowsWhatWouldGoAndRemovesNothing) {
  const ProgramRun shown = prune({"--older-than", "400d"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, ContainsRegex("- +20[0-9][0-9] +1 +50 +0.0 MiB"));
  EXPECT_THAT(shown.err, HasSubstr("Nothing was removed. To remove 1 run, add --yes."));
  EXPECT_EQ(count(), 2);
}

TEST_F(Prune, RemovesWhatReadingTheTreeDoesNotBringBack) {
  const ProgramRun removed = prune({"--older-than", "400d", "--yes"});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_THAT(removed.err, AllOf(HasSubstr("Removed 1 run in"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(count(), 1);
  const ProgramRun again = ingest();
  ASSERT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("1 of these logs are passed over: their runs were removed"));
  EXPECT_EQ(count(), 1);
  EXPECT_THAT(prune({"--older-than", "400d", "--yes"}).err,
              HasSubstr("Nothing to remove: no run fits 'older than 400d'."));
  EXPECT_EQ(run({"doctor", "--db", "runs.db"}).exit_code, 0);
  write_log("tree/a/log_1.out", nemo_log(49) + "one more line\n", 0);
  ASSERT_EQ(ingest().exit_code, 0);
  EXPECT_EQ(count(), 2);
}

TEST_F(Prune, KnowsATreeByAnyPathThatLeadsThere) {
  fs::create_directory_symlink(folder_.path() / "tree", folder_.path() / "link");
  EXPECT_THAT(prune({"--root", "link"}).err, HasSubstr("To remove 2 runs"));
  const ProgramRun unknown = prune({"--root", "elsewhere", "--yes"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("the database knows no tree elsewhere; it knows: "),
                                 HasSubstr(folder_.file("tree"))));
  EXPECT_EQ(count(), 2);
}

TEST_F(Prune, KnowsATreeThatIsGoneByAnyPathThatLedThere) {
  fs::rename(folder_.path() / "tree", folder_.path() / "away");
  for (const char* const root : {"tree", "tree/", "./away/../tree"}) {
    EXPECT_THAT(prune({"--root", root}).err, HasSubstr("To remove 2 runs")) << root;
  }
  EXPECT_EQ(prune({"--root", "tree", "--yes"}).exit_code, 0);
  EXPECT_EQ(count(), 0);
}

// So that a timer's mail means something.
TEST_F(Prune, IsPassedOverInSilenceWhereThatIsAskedFor) {
  ASSERT_EQ(prune({"--older-than", "400d", "--yes"}).exit_code, 0);
  const ProgramRun quiet = run({"ingest", "--once", "--log-level", "off",
                                "--allow-network-file-system", "--db", "runs.db", "tree"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(ingest().err, HasSubstr("passed over"));
  // A compressed log is no news for as long as it lies there, and of one of them no run stays.
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "tree")) {
    if (entry.path().extension() == ".out") {
      fs::rename(entry.path(), entry.path().string() + ".zip");
    }
  }
  for (int look = 0; look < 2; ++look) {
    const ProgramRun again = ingest();
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_THAT(again.err, Not(HasSubstr("was compressed")));
  }
}

// A daemon that was told of a tree which never came.
TEST_F(Prune, ForgetsATreeOfWhichNothingIsStored) {
  storage::Writer({folder_.file("runs.db"), true}).upsert_root(folder_.file("mistyped"), "");
  const auto roots = [&] { return storage::Reader(folder_.file("runs.db")).roots().size(); };
  ASSERT_EQ(roots(), 2U);
  EXPECT_THAT(prune({"--root", "mistyped"}).err, HasSubstr("To forget the tree, add --yes."));
  EXPECT_THAT(prune({"--root", "mistyped", "--older-than", "1d", "--yes"}).err,
              HasSubstr("Nothing to remove"));
  EXPECT_EQ(roots(), 2U);
  const ProgramRun done = prune({"--root", "mistyped", "--yes"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("Forgot the tree " + folder_.file("mistyped")));
  EXPECT_EQ(roots(), 1U);
  EXPECT_EQ(prune({"--root", "tree", "--yes"}).exit_code, 0);
  EXPECT_EQ(prune({"--root", "tree", "--yes"}).exit_code, 0);
  EXPECT_EQ(roots(), 1U) << "what was removed of it is known";
  fs::remove_all(folder_.path() / "tree");
  EXPECT_THAT(prune({"--root", "tree", "--yes"}).err,
              AllOf(HasSubstr("Nothing to remove"), HasSubstr("--gone --yes")));
  EXPECT_EQ(roots(), 1U) << "its file system may be mounted again";
  EXPECT_THAT(prune({"--root", "tree", "--gone", "--yes"}).err, HasSubstr("Forgot the tree"));
  EXPECT_EQ(roots(), 0U);
}

// A variable that is not set takes away no filter.
TEST_F(Prune, TakesNoEmptyFilter) {
  const std::vector<std::vector<std::string>> calls = {
      {"--cluster", "", "--older-than", "1d", "--yes"},
      {"--cluster=", "--older-than", "1d", "--yes"},
      {"--root", "", "--older-than", "1d", "--yes"},
      {"--root", "tree", "--older-than", "", "--yes"}};
  for (const std::vector<std::string>& call : calls) {
    const ProgramRun refused = prune(call);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(" is empty, as of a variable that is not set"));
  }
  EXPECT_EQ(run({"prune", "--db", "", "--older-than", "1d", "--yes"}).exit_code, 2);
  EXPECT_EQ(count(), 2);
}

TEST_F(Prune, FindsNoTraceOfATreeThatWasMistypedOnce) {
  const ProgramRun once = run(
      {"ingest", "--once", "--allow-network-file-system", "--db", "runs.db", "tree", "mistyped"});
  EXPECT_EQ(once.exit_code, 1);
  EXPECT_THAT(once.err, HasSubstr("mistyped is no folder that is there"));
  EXPECT_THAT(once.err, Not(HasSubstr("every scan tries it again")));
  EXPECT_EQ(storage::Reader(folder_.file("runs.db")).roots().size(), 1U);
  EXPECT_EQ(run({"ingest", "--once", "--db", "new.db", "mistyped"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(folder_.path() / "new.db"));
}

TEST_F(Prune, SaysWhichClustersThereAreWhereOneIsMisspelt) {
  EXPECT_THAT(prune({"--cluster", "eos"}).err, HasSubstr("that may go; it knows: none"));
  folder_.write("tree/b/llmb-config_2.yaml",
                "job_info:\n  job_id: '2'\ncluster_info:\n  cluster_name: eos\n");
  ASSERT_EQ(ingest().exit_code, 0);
  const ProgramRun unknown = prune({"--cluster", "eso", "--yes"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no runs of a cluster eso that may go; it knows: eos"));
  const ProgramRun none = prune({"--cluster", "eos", "--older-than", "2000-01-01", "--yes"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("Nothing to remove"));
  EXPECT_EQ(count(), 2);
}

TEST_F(Prune, OfRunsWhoseLogsAreGone) {
  fs::remove(folder_.path() / "tree/b/log_2.out");
  ASSERT_EQ(ingest().exit_code, 0);
  EXPECT_EQ(prune({"--gone", "--yes"}).exit_code, 0);
  EXPECT_EQ(count(), 1);
}

TEST_F(Prune, IsRefusedWithoutAFilterAndWithAnAgeThatIsNone) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--yes"}, {"--log-text", "--yes"}, {"--older-than", "soon"}, {"--older-than", "0d"}}) {
    const ProgramRun refused = prune(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments.front();
    EXPECT_THAT(refused.err, HasSubstr("llmb-report prune --help"));
  }
  EXPECT_EQ(count(), 2);
  EXPECT_THAT(prune({"--older-than", "2100-01-01"}).err, HasSubstr("To remove 2 runs"));
}

TEST_F(Prune, MakesNoDatabase) {
  for (const char* const age : {"400d", "1d"}) {
    const ProgramRun refused = run({"prune", "--db", "nosuch.db", "--older-than", age, "--yes"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("nosuch.db: No such file"));
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "nosuch.db"));
}

TEST_F(Prune, SaysWhatToDoWhileADaemonHasTheDatabase) {
  const storage::Writer daemon({folder_.file("runs.db"), true});
  const ProgramRun refused = prune({"--older-than", "400d", "--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("is already writing to it"), HasSubstr("'retention'"),
                                 HasSubstr("Nothing was removed here.")));
  EXPECT_EQ(prune({"--older-than", "400d"}).exit_code, 0) << "looking needs no lock";
  EXPECT_EQ(count(), 2);
}

TEST_F(Prune, IsUndoneForLogsThatStillLieThere) {
  ASSERT_EQ(prune({"--root", "tree", "--yes"}).exit_code, 0);
  fs::remove(folder_.path() / "tree/b/log_2.out");
  const ProgramRun shown = prune({"--undo", "--root", "tree"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, ContainsRegex("- +- +20[0-9-]+ +20[0-9-]+ +2 +10[0-9]"));
  EXPECT_THAT(shown.err, AllOf(HasSubstr("To let 2 logs in again, add --yes."),
                               HasSubstr("Only logs that still lie there come back")));
  ASSERT_EQ(ingest().exit_code, 0);
  EXPECT_EQ(count(), 0) << "it was only shown";
  const ProgramRun done = prune({"--undo", "--root", "tree", "--yes"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err,
              AllOf(HasSubstr("Let 1 log in again."),
                    HasSubstr("read by the next `llmb-report ingest` of it"),
                    HasSubstr("A daemon whose 'retention' names them"), Not(HasSubstr("agents"))));
  const ProgramRun again = ingest();
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, Not(HasSubstr("passed over")));
  EXPECT_EQ(count(), 1);
  EXPECT_THAT(prune({"--undo", "--root", "tree", "--yes"}).err,
              HasSubstr("Nothing to let in again"));
}

TEST_F(Prune, IsUndoneByWhatIsKnownOfRemovedLogsOnly) {
  ASSERT_EQ(prune({"--root", "tree", "--yes"}).exit_code, 0);
  const auto undo = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--undo");
    return prune(std::move(arguments));
  };
  EXPECT_THAT(undo({"--gone"}).err, HasSubstr("--gone does not go with --undo"));
  EXPECT_THAT(undo({"--log-text"}).err, HasSubstr("--log-text does not go with --undo"));
  for (const auto& arguments : std::vector<std::vector<std::string>>{{},
                                                                     {"--yes"},
                                                                     {"--gone"},
                                                                     {"--log-text"},
                                                                     {"--older-than", "soon"},
                                                                     {"--removed-since", "soon"},
                                                                     {"--root", "elsewhere"}}) {
    EXPECT_EQ(undo(arguments).exit_code, 2) << ::testing::PrintToString(arguments);
  }
  EXPECT_EQ(prune({"--root", "tree", "--removed-since", "1d"}).exit_code, 2);
  const ProgramRun old = undo({"--older-than", "2000-01-01"});
  EXPECT_EQ(old.exit_code, 0) << old.err;
  EXPECT_THAT(old.err, AllOf(HasSubstr("2 more may be as old"), HasSubstr("Nothing to let in")));
  // The runs may have named it.
  const ProgramRun of_cluster = undo({"--cluster", "eos"});
  EXPECT_EQ(of_cluster.exit_code, 1);
  EXPECT_THAT(of_cluster.err, AllOf(HasSubstr("2 more are of trees that name no cluster"),
                                    HasSubstr("Instead of --cluster, this takes them: --root "),
                                    HasSubstr("/tree'\n"), Not(HasSubstr("knows: none"))));
  storage::Writer({folder_.file("runs.db"), true}).upsert_root("/elsewhere", "eos");
  const ProgramRun of_other_tree = undo({"--cluster", "eos"});
  EXPECT_EQ(of_other_tree.exit_code, 0);
  EXPECT_THAT(of_other_tree.err, HasSubstr("Nothing to let in again"));
  const ProgramRun misspelt = undo({"--cluster", "eso"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("it knows: eos"));
  EXPECT_THAT(undo({"--removed-since", "1d"}).err, HasSubstr("To let 2 logs in again"));
  EXPECT_THAT(undo({"--removed-since", "2100-01-01"}).err, HasSubstr("Nothing to let in"));
}

TEST_F(Prune, IsNotUndoneWhileADaemonHasTheFile) {
  ASSERT_EQ(prune({"--root", "tree", "--yes"}).exit_code, 0);
  const storage::Writer daemon({folder_.file("runs.db"), true});
  const ProgramRun refused = prune({"--undo", "--root", "tree", "--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("Stop the daemon for as long as this takes"),
                                 HasSubstr("What was not let in yet stays removed."),
                                 Not(HasSubstr("'retention'"))));
  EXPECT_EQ(prune({"--undo", "--root", "tree"}).exit_code, 0) << "looking needs no lock";
}

TEST_F(Prune, TeachesWhatItDoes) {
  const ProgramRun help = run({"prune", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("A log that grows or changes afterwards is read"),
                              HasSubstr("Exit codes: 0 done")));
}

}  // namespace
}  // namespace llmb::cli
