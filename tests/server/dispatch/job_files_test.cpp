// A job's files where they are hostile or do not answer. Each call has a bound in time.
#include "server/dispatch/job_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "server/dispatch/job_evidence.h"
#include "tests/patience.h"
#include "tests/server/ingest/hanging_file_system.h"
#include "tests/temporary_folder.h"

namespace llmb::dispatch {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class JobFiles : public testing::Test {
 protected:
  JobFiles() { fs::create_directories(run_folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(run_folder_ + "/" + name) << text;
  }
  std::string run_file(const std::string& name) const { return run_folder_ + "/" + name; }
  storage::JobRecord job() const {
    storage::JobRecord job;
    job.job_id = 41;
    job.experiment = "x";
    job.launch_id = "x_1";
    job.run_folder = run_folder_;
    return job;
  }

  const TemporaryFolder temporary_;
  const std::string workload_folder_ = temporary_.file("workload");
  const std::string launch_folder_ = workload_folder_ + "/experiments/x/x_1";
  const std::string run_folder_ = launch_folder_ + "/x";
};

TEST_F(JobFiles, AreListedAndReadPieceByPiece) {
  write("log.out", "0123456789");
  write("other", "");
  EXPECT_THAT(names_in(run_folder_).value(), UnorderedElementsAre("log.out", "other"));
  const FilePiece end = read_piece(run_file("log.out"), std::nullopt, 4).value();
  EXPECT_EQ(end.text, "6789");
  EXPECT_EQ(end.offset, 6);
  EXPECT_EQ(end.size_bytes, 10);
  EXPECT_EQ(read_piece(run_file("log.out"), 2, 3).value().text, "234");
  EXPECT_EQ(read_piece(run_file("log.out"), 90, 3).value().text, "");
}

TEST_F(JobFiles, AreNoneWhereTheyAreNotThereYet) {
  EXPECT_EQ(read_piece(run_file("none"), std::nullopt, 4).value().size_bytes, 0);
  fs::remove_all(launch_folder_);
  EXPECT_TRUE(names_in(run_folder_).value().empty());
}

TEST_F(JobFiles, AreNotWaitedForInAFifo) {
  ASSERT_EQ(mkfifo((run_folder_ + "/sbatch_x_41.out").c_str(), 0600), 0);
  const auto piece = read_piece(run_file("sbatch_x_41.out"), std::nullopt, 4);
  ASSERT_FALSE(piece);
  EXPECT_THAT(piece.error().message, HasSubstr("no regular file"));
  // To the poller that is no information, and no end of its turn.
  EXPECT_FALSE(job_evidence(job()));
}

TEST_F(JobFiles, AreNotReadThroughALink) {
  std::ofstream(temporary_.file("secret")) << "of another";
  fs::create_symlink(temporary_.file("secret"), run_folder_ + "/log.out");
  const auto piece = read_piece(run_file("log.out"), std::nullopt, 4);
  ASSERT_FALSE(piece);
  EXPECT_THAT(piece.error().message, HasSubstr("link"));
}

TEST_F(JobFiles, AreNotReadWhereALinkStandsInTheFoldersPlace) {
  fs::create_directory(temporary_.file("elsewhere"));
  std::ofstream(temporary_.file("elsewhere") + "/log-a.x_41_0.out") << "of another";
  for (const std::string& replaced : {run_folder_, launch_folder_}) {
    fs::remove_all(replaced);
    fs::create_directory_symlink(temporary_.file("elsewhere"), replaced);
    EXPECT_FALSE(names_in(run_folder_)) << replaced;
    EXPECT_FALSE(read_piece(run_file("log-a.x_41_0.out"), 0, 4)) << replaced;
    const JobLogs logs = job_logs(job());
    EXPECT_TRUE(logs.log.empty());
    EXPECT_THAT(logs.error, HasSubstr("cannot open"));
  }
}

TEST_F(JobFiles, MayLieBehindALinkThatIsTheFolderOfAllRuns) {
  write("log.out", "0123");
  fs::rename(workload_folder_ + "/experiments", temporary_.file("elsewhere"));
  fs::create_directory_symlink(temporary_.file("elsewhere"), workload_folder_ + "/experiments");
  EXPECT_EQ(read_piece(run_file("log.out"), 0, 4).value().text, "0123");
}

TEST_F(JobFiles, AreNotReadOutsideOfTheFolderOfAllRuns) {
  for (const char* folder : {"", "/", "x", "/etc", "experiments/x"}) {
    const auto names = names_in(folder);
    ASSERT_FALSE(names) << folder;
    EXPECT_THAT(names.error().message, HasSubstr("no place of a job's files"));
  }
  std::ofstream(temporary_.file("secret")) << "of another";
  EXPECT_FALSE(read_piece(run_file("../../../../../secret"), 0, 4));
  EXPECT_FALSE(read_piece(run_folder_, 0, 4)) << "a folder is no file";
}

TEST_F(JobFiles, AreNotWaitedForWhereTheirFileSystemHangs) {
  write("log.out", "0123456789");
  ingest::HangingFileSystem hanging(run_folder_, ingest::HangingFileSystem::Calls::reads);
  const auto read = [this] { return read_piece(run_file("log.out"), 0, 4); };
  std::vector<std::future<parser::Result<FilePiece>>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(std::async(std::launch::async, read));
  for (auto& piece : waiting) {
    const auto answer = piece.get();
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("has not answered"));
  }
  // Four threads hang: there is no fifth.
  const auto fifth = read();
  ASSERT_FALSE(fifth);
  EXPECT_THAT(fifth.error().message, HasSubstr("has not been answered"));
  EXPECT_EQ(ingest::HangingFileSystem::calls_that_hang(), 4);
  hanging.answer_again();
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  auto answer = read();
  while (!answer && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    answer = read();
  }
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, "0123");
}

}  // namespace
}  // namespace llmb::dispatch
