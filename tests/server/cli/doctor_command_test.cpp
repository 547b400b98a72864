// `llmb-report doctor`, as a user meets it: what it finds, and that it changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>
#include <algorithm>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/server/cli/program_run.h"
#include "tests/server/cli/training_logs.h"
#include "tests/storage/execute_sql.h"
#include "tests/temporary_folder.h"

namespace llmb::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tree/a/log_1.out", nemo_log(49));
    const ProgramRun run = run_program(
        {"ingest", "--once", "--allow-network-file-system", "--db", "runs.db", "tree"}, options_);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  ProgramRun doctor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"doctor", "--db", "runs.db"});
    return run_program(arguments, options_);
  }
  void execute(const std::string& sql) const { storage::execute_sql(folder_.file("runs.db"), sql); }
  // Of the tables and indexes that `where`, a condition of SQL, names.
  std::vector<std::int64_t> first_pages(const std::string& where) const {
    std::vector<std::int64_t> pages;
    sqlite3* connection = nullptr;
    EXPECT_EQ(sqlite3_open((folder_.path() / "runs.db").c_str(), &connection), SQLITE_OK);
    const auto read = [](void* into, int, char** values, char**) {
      static_cast<std::vector<std::int64_t>*>(into)->push_back(std::atoll(values[0]));
      return 0;
    };
    const std::string sql = "SELECT rootpage FROM sqlite_schema WHERE rootpage > 0 AND " + where;
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), read, &pages, nullptr), SQLITE_OK);
    sqlite3_close(connection);
    return pages;
  }
  // Of the findings of that check, the verdicts.
  static std::vector<std::string> verdicts(const ProgramRun& run, const std::string& check) {
    std::vector<std::string> verdicts;
    const auto json = nlohmann::json::parse(run.out);
    for (const auto& finding : json["findings"]) {
      if (finding["check"] == check) verdicts.push_back(finding["verdict"]);
    }
    return verdicts;
  }
  using Verdicts = std::vector<std::string>;

  const TemporaryFolder folder_;
  const ProgramOptions options_{folder_.path(), {}, false};
};

TEST_F(Doctor, FindsNothingWhereAllIsWell) {
  const ProgramRun table = doctor({});
  EXPECT_EQ(table.exit_code, 0) << table.out << table.err;
  EXPECT_THAT(table.out, HasSubstr("1 runs, 50 steps"));
  EXPECT_THAT(table.out, HasSubstr("every page is sound"));
  EXPECT_THAT(table.out, HasSubstr((folder_.path() / "tree").string() + ": answers"));
  EXPECT_THAT(table.out, Not(HasSubstr("problem")));
  const ProgramRun json = doctor({"--format=json", "--quick"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(nlohmann::json::parse(json.out)["is_well"], true);
  EXPECT_EQ(verdicts(json, "integrity"), Verdicts{"ok"});
  EXPECT_EQ(verdicts(json, "local_disk"), Verdicts{"ok"}) << "a name without a folder";
  EXPECT_EQ(verdicts(json, "step_counts"), Verdicts{}) << "left out of a quick look";
}

TEST_F(Doctor, FindsRowsThatContradictOneAnother) {
  execute("PRAGMA foreign_keys = OFF; INSERT INTO run_segment VALUES (99, 0, 0, 1, 2, 0, NULL, 0)");
  execute("DELETE FROM step_sample WHERE iteration = 7");
  EXPECT_EQ(verdicts(doctor({"--format=json"}), "run_counts"), Verdicts{"ok"});
  execute("UPDATE run_tally SET runs = 5");
  const ProgramRun run = doctor({"--format=json"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(verdicts(run, "run_counts"), Verdicts{"problem"});
  EXPECT_EQ(verdicts(run, "references"), Verdicts{"problem"});
  EXPECT_EQ(verdicts(run, "step_counts"), Verdicts{"problem"});
  EXPECT_EQ(verdicts(run, "integrity"), Verdicts{"ok"});
  EXPECT_THAT(run.out, HasSubstr("run 1 says 50 steps, and 49 are stored"));
  EXPECT_THAT(run.out, HasSubstr("run_segment"));
}

TEST_F(Doctor, CountsTheRunsThatAnEarlierVersionTold) {
  execute("UPDATE run SET reading = 1000000");
  EXPECT_EQ(verdicts(doctor({"--quick", "--format=json"}), "reading"), Verdicts{"ok"});
  execute("UPDATE run SET reading = 0");
  const ProgramRun run = doctor({"--quick", "--format=json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(verdicts(run, "reading"), Verdicts{"warning"});
  EXPECT_THAT(run.out, HasSubstr("`llmb-report ingest --once --anew --db runs.db`"));
}

TEST_F(Doctor, FindsADamagedPage) {
  execute("PRAGMA journal_mode = DELETE");
  const fs::path file = folder_.path() / "runs.db";
  const auto size = fs::file_size(file);
  const std::int64_t page = first_pages("name = 'step_sample'").at(0);
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp((page - 1) * 4096);
    bytes << std::string(64, '\x5a');
  }
  const ProgramRun run = doctor({});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("put back a backup"));
  EXPECT_EQ(fs::file_size(file), size) << "and changes nothing";
}

TEST_F(Doctor, CallsNothingWellThatItCouldNotRead) {
  execute("PRAGMA journal_mode = DELETE");
  const fs::path file = folder_.path() / "runs.db";
  const std::vector<std::int64_t> pages = first_pages("true");
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    for (const std::int64_t page : pages) {
      bytes.seekp((page - 1) * 4096);
      bytes << std::string(4096, '\x5a');
    }
  }
  const ProgramRun json = doctor({"--format=json"});
  EXPECT_EQ(json.exit_code, 1) << json.err;
  for (const char* check : {"database", "references", "step_counts", "run_counts", "root"}) {
    EXPECT_EQ(verdicts(json, check), Verdicts{"not_checked"}) << check;
  }
  const ProgramRun table = doctor({});
  EXPECT_EQ(table.exit_code, 1) << table.err;
  EXPECT_THAT(table.out, HasSubstr("references   not checked  it cannot be told: integrity says"));
  EXPECT_THAT(table.out, Not(HasSubstr("0 runs")));
  EXPECT_THAT(table.out, HasSubstr("is not as llmb-report wrote it"));
}

TEST_F(Doctor, SaysOfAnEmptyFileThatNothingIsInIt) {
  folder_.write("runs.db", "");
  const ProgramRun json = doctor({"--format=json"});
  EXPECT_EQ(json.exit_code, 1) << json.err;
  EXPECT_EQ(verdicts(json, "database"), Verdicts{"problem"});
  for (const char* check :
       {"schema", "integrity", "references", "step_counts", "run_counts", "root"}) {
    EXPECT_EQ(verdicts(json, check), Verdicts{"not_checked"}) << check;
  }
  EXPECT_THAT(json.out, HasSubstr("runs.db: is empty"));
  EXPECT_THAT(json.out, Not(HasSubstr("0 runs")));
}

TEST_F(Doctor, FindsARootThatIsGoneAndLooksAtFurtherOnes) {
  fs::rename(folder_.path() / "tree", folder_.path() / "away");
  const ProgramRun run = doctor({"--format=json", "away", "runs.db"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(verdicts(run, "root"), (Verdicts{"problem", "ok", "problem"}));
  EXPECT_THAT(run.out, HasSubstr("No such file"));
  EXPECT_THAT(run.out, HasSubstr("runs.db: is not a folder"));
}

TEST_F(Doctor, FindsWhatIsEmptyThoughLogsWereReadThere) {
  fs::remove_all(folder_.path() / "tree/a");
  const ProgramRun root = doctor({"--format=json", "--quick"});
  EXPECT_EQ(root.exit_code, 1);
  EXPECT_EQ(verdicts(root, "root"), Verdicts{"problem"});
  EXPECT_THAT(root.out, HasSubstr("tree: is empty, and logs were read from it before"));
  folder_.write("tree/results/log_2.out", nemo_log(49));
  folder_.write("tree/experiments/a/log_3.out", nemo_log(49));
  const std::vector<std::string> once = {"ingest", "--once",  "--allow-network-file-system",
                                         "--db",   "runs.db", "tree"};
  ASSERT_EQ(run_program(once, options_).exit_code, 0);
  EXPECT_EQ(doctor({}).exit_code, 0);
  fs::remove_all(folder_.path() / "tree/experiments/a");
  EXPECT_THAT(doctor({}).out, HasSubstr("tree/experiments: is empty"));
  EXPECT_EQ(run_program(once, options_).exit_code, 1);
  // Where they are gone for good, nothing is missing.
  fs::remove_all(folder_.path() / "tree/experiments");
  ASSERT_EQ(run_program(once, options_).exit_code, 0);
  EXPECT_EQ(doctor({}).exit_code, 0);
}

TEST_F(Doctor, WarnsOfARootThatWasNeverRead) {
  execute("INSERT INTO root (path, cluster) VALUES ('" + folder_.file("mistyped") + "', '')");
  const ProgramRun run = doctor({"--format=json"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(verdicts(run, "root"), (Verdicts{"warning", "ok"}));
  EXPECT_THAT(run.out, HasSubstr("nothing is stored of it"));
  EXPECT_EQ(doctor({(folder_.path() / "mistyped").string()}).exit_code, 1);
}

TEST_F(Doctor, TellsOfLogsThatCouldNotBeRead) {
  EXPECT_EQ(verdicts(doctor({"--format=json"}), "parked_log"), Verdicts{"ok"});
  folder_.write("tree/b/cut.out.gz", "\x1f\x8b\x08");
  const ProgramRun ingest = run_program(
      {"ingest", "--once", "--allow-network-file-system", "--db", "runs.db", "tree"}, options_);
  EXPECT_EQ(ingest.exit_code, 1);
  EXPECT_THAT(ingest.err, HasSubstr("the next ingest tries it again"));
  EXPECT_THAT(ingest.err, Not(HasSubstr("the next try is in"))) << "it ends";
  const ProgramRun run = doctor({"--format=json", "--quick"});
  EXPECT_EQ(run.exit_code, 0) << "a warning";
  EXPECT_EQ(verdicts(run, "parked_log"), Verdicts{"warning"});
  EXPECT_THAT(run.out, HasSubstr("tree/b/cut.out.gz: "));
}

TEST_F(Doctor, LooksIntoTheFoldersOfATree) {
  folder_.write("open/a/log_1.out", nemo_log(49));
  const fs::path closed = folder_.path() / "open/b";
  fs::create_directory(closed);
  fs::permissions(folder_.path(), fs::perms::others_read | fs::perms::others_exec,
                  fs::perm_options::add);
  fs::permissions(closed, fs::perms::none);
  const ProgramOptions as_nobody{folder_.path(), {}, true};
  const auto look = [&](const char* depth) {
    return run_program({"doctor", "--db", "none.db", depth, folder_.file("open")}, as_nobody);
  };
  EXPECT_THAT(look("--format=table").out,
              HasSubstr("1 of its folders cannot be listed, and the logs in them are not seen; the "
                        "first is " +
                        closed.string()));
  EXPECT_THAT(look("--quick").out, HasSubstr("open: answers, and can be listed"));
  fs::permissions(closed, fs::perms::owner_all);
  EXPECT_THAT(look("--format=table").out, HasSubstr("1 of its folders cannot")) << "of others";
  fs::permissions(closed, fs::perms::all);
  EXPECT_THAT(look("--format=table").out, HasSubstr("open: answers, and can be listed"));
}

TEST_F(Doctor, MakesNoFolderForADatabaseThatIsNotThere) {
  const ProgramOptions at_home{folder_.path(), {{"HOME", folder_.path().string()}}, false};
  for (const std::vector<std::string>& asks : {std::vector<std::string>{"doctor"},
                                               {"jobs"},
                                               {"token", "list"},
                                               {"prune", "--older-than", "1d"}}) {
    EXPECT_NE(run_program(asks, at_home).exit_code, 0) << asks.front();
    EXPECT_FALSE(fs::exists(folder_.path() / ".local")) << asks.front();
  }
  EXPECT_EQ(
      run_program({"ingest", "--once", "--allow-network-file-system", "tree"}, at_home).exit_code,
      0);
  EXPECT_TRUE(fs::exists(folder_.path() / ".local/state/llmb-report/llmb-report.db"));
}

TEST_F(Doctor, RefusesWhatIsNoDatabaseOfOurs) {
  const ProgramRun missing = run_program({"doctor", "--db", "none.db"}, options_);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.out, HasSubstr("none.db"));
  EXPECT_FALSE(fs::exists(folder_.path() / "none.db"));
  folder_.write("text.db", "this is no database, and long enough to be looked at as one");
  EXPECT_EQ(run_program({"doctor", "--db", "text.db"}, options_).exit_code, 1);
  execute("PRAGMA user_version = 9999");
  const ProgramRun newer = doctor({});
  EXPECT_EQ(newer.exit_code, 1);
  EXPECT_THAT(newer.out, HasSubstr("Use the newer program"));
}

TEST_F(Doctor, TeachesWhatItDoes) {
  const ProgramRun help = run_program({"doctor", "--help"}, options_);
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("Exit codes: 0 nothing is wrong"));
  EXPECT_EQ(doctor({"--no-such-option"}).exit_code, 2);
}

// What somebody asks for is to be there, as --help says.
TEST_F(Doctor, FindsATreeThatItIsAskedForAndIsNotThereAProblem) {
  const ProgramRun run = doctor({"--format", "json", "elsewhere"});
  EXPECT_EQ(run.exit_code, 1) << run.out;
  const Verdicts found = verdicts(run, "root");
  EXPECT_EQ(std::count(found.begin(), found.end(), "problem"), 1) << run.out;
  EXPECT_NE(run_program({"doctor", "--help"}, options_).out.find("that the command does not\nname"),
            std::string::npos);
}

}  // namespace
}  // namespace llmb::cli
