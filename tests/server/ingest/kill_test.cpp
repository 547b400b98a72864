// Kills the real program with SIGKILL at random moments while logs of all dialects grow, and
// compares what stands in the end with what one undisturbed reading of the same logs gives.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "server/sample/log_lines.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/storage/execute_sql.h"

extern char** environ;

namespace llmb::ingest {
namespace {

using std::chrono::milliseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kKills = 40;  // starting takes ten times as long
#else
constexpr int kKills = 300;
#endif
constexpr int kKillsPerLook = 5;
constexpr int kSteps = 300;
constexpr unsigned kSeed = 20260131;

enum class Kind { nemo, progress_bar, time_first, time_last, megatron_lm };

std::string step_text(Kind kind, int index) {
  sample::StepFigures step;
  step.index = index;
  step.step_count = kSteps;
  step.step_time_s = 5 + 0.01 * (index % 17);
  step.tflops_per_gpu = 700 + index % 13;
  step.loss = 11 - 0.01 * index;
  step.learning_rate = 1e-5 * (index + 1);
  step.grad_norm = 1 + 0.1 * (index % 5);
  step.global_batch_size = 256;
  sample::StepFigures previous = step;
  previous.index = std::max(0, index - 1);
  const double clock_s = 5.0 * index;
  switch (kind) {
    case Kind::nemo:
      return sample::nemo_line(step);
    case Kind::progress_bar:
      return sample::progress_bar_records(step, previous);
    case Kind::time_first:
      return sample::step_time_line(step) + sample::megatron_iteration_line(step, clock_s, false);
    case Kind::time_last:
      return sample::megatron_iteration_line(step, clock_s, false) + sample::step_time_line(step);
    case Kind::megatron_lm:
      return sample::megatron_iteration_line(step, clock_s, true);
  }
  return {};
}

// Two runs in one log: the second begins again before where the first broke off.
std::string log_of(Kind kind) {
  std::string text = "starting up\n";
  for (int i = 0; i < kSteps / 2; ++i) text += step_text(kind, i);
  text += "\nslurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2025-06-25T05:58:06 ***\n";
  for (int i = kSteps / 2 - 40; i < kSteps; ++i) text += step_text(kind, i);
  return text + "\n";
}

class GrowingLog {
 public:
  GrowingLog(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  // Appends the next bytes, wherever that cuts a line.
  void grow(std::size_t bytes) {
    const std::size_t length = std::min(bytes, text_.size() - written_);
    const int fd = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(::write(fd, text_.data() + written_, length), static_cast<ssize_t>(length));
    close(fd);
    written_ += length;
  }
  bool is_whole() const { return written_ == text_.size(); }
  std::size_t size() const { return text_.size(); }

 private:
  std::string path_;
  std::string text_;
  std::size_t written_ = 0;
};

class KillTest : public TreeTest {
 protected:
  pid_t start(const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string errors = folder_.string() + "/errors";
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0) << argv[0];
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }
  std::vector<std::string> command(const char* mode, const std::string& database) const {
    return {LLMB_BINARY_DIR "/bin/llmb-report",
            "ingest",
            mode,
            "--allow-network-file-system",
            "--db",
            database,
            tree_};
  }
  std::vector<std::string> anew() const {
    std::vector<std::string> arguments = command("--once", database_);
    arguments.emplace_back("--anew");
    return arguments;
  }
  void ingest_to_the_end(const std::string& database) {
    run_to_the_end(command("--once", database));
  }
  void run_to_the_end(const std::vector<std::string>& arguments) {
    int status = 0;
    ASSERT_EQ(waitpid(start(arguments), &status, 0) > 0, true);
    EXPECT_EQ(status, 0);
  }
};

std::int64_t stored_steps(const std::string& database) {
  try {
    return storage::Reader(database).totals().steps;
  } catch (const storage::StorageError&) {
    return 0;  // the program was killed before it had made one
  }
}

// How long the program lives before it is killed: at times too short to begin, at times long enough
// to read. How long that is depends on the machine, and on what else it does: where nothing new was
// stored between two looks, the lives grow.
class Lifetimes {
 public:
  void saw(std::int64_t stored) {
    longest_ms_ = stored > stored_ ? std::max(longest_ms_ * 7 / 8, kShortestMs)
                                   : std::min(longest_ms_ * 2, kLongestMs);
    stored_ = stored;
  }
  milliseconds next(std::mt19937& random) const { return milliseconds(5 + random() % longest_ms_); }

 private:
  static constexpr std::uint64_t kShortestMs = 96;
  static constexpr std::uint64_t kLongestMs = 5'000;
  std::uint64_t longest_ms_ = kShortestMs;
  std::int64_t stored_ = 0;
};

void expect_equal_databases(const std::string& killed_path, const std::string& fresh_path) {
  storage::Reader killed(killed_path);
  storage::Reader fresh(fresh_path);
  storage::RunQuery all;
  all.filter.include_superseded = true;
  all.limit = 500;
  const auto runs = fresh.runs(all).runs;
  ASSERT_EQ(killed.runs(all).runs.size(), runs.size()) << "a run was doubled or lost";
  for (const auto& listed : runs) {
    SCOPED_TRACE(listed.relative_path);
    const auto expected = fresh.run(listed.id);
    const auto found = killed.run_at(1, listed.relative_path);
    ASSERT_TRUE(expected && found);
    EXPECT_EQ(found->generation, 0);
    EXPECT_EQ(found->facts, expected->facts);
    EXPECT_EQ(found->reading, expected->reading);
    // Of logs that are older than this test it is measured when they are read.
    auto summary = expected->summary;
    if (summary.silent_s && found->summary.silent_s) summary.silent_s = found->summary.silent_s;
    EXPECT_EQ(found->summary, summary);
    EXPECT_EQ(found->step_count, expected->step_count);
    EXPECT_EQ(killed.cursor(found->id)->offset, fresh.cursor(expected->id)->offset);
    const auto steps = fresh.steps(expected->id);
    EXPECT_GE(steps.size(), kSteps + 0U);
    EXPECT_EQ(killed.steps(found->id), steps);
  }
}

TEST_F(KillTest, LosesAndDoublesNothingAtAnyInstant) {
  std::vector<GrowingLog> logs;
  std::size_t bytes = 0;
  for (const Kind kind :
       {Kind::nemo, Kind::progress_bar, Kind::time_first, Kind::time_last, Kind::megatron_lm}) {
    logs.emplace_back(tree_path("log-" + std::to_string(logs.size()) + ".out"), log_of(kind));
    bytes += logs.back().size();
  }
  std::atomic<int> kills = 0;
  // Each kill meets a log that has just grown: the writer keeps pace with the kills.
  std::thread writer([&] {
    std::mt19937 random(kSeed);
    std::size_t written = 0;
    while (kills < kKills) {
      const auto allowed = bytes * static_cast<std::size_t>(kills + 1) / kKills;
      if (written < allowed) {
        const std::size_t length = 1 + random() % 700;
        logs[random() % logs.size()].grow(length);
        written += length;
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  std::mt19937 random(kSeed + 1);
  Lifetimes lifetimes;
  for (; kills < kKills; ++kills) {
    if (kills % kKillsPerLook == 0) lifetimes.saw(stored_steps(database_));
    const pid_t pid = start(command("--follow", database_));
    if (pid <= 0) break;
    std::this_thread::sleep_for(lifetimes.next(random));
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0) << "it ended by itself: " << status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    if (HasFailure()) break;
  }
  kills = kKills;
  writer.join();
  ASSERT_FALSE(HasFailure());
  // Much of it was read between two kills, or this test would show nothing.
  EXPECT_GT(stored_steps(database_), kSteps);
  for (GrowingLog& log : logs) {
    while (!log.is_whole()) log.grow(log.size());
  }
  const std::string fresh = folder_.string() + "/fresh.db";
  ingest_to_the_end(database_);
  ingest_to_the_end(fresh);
  expect_equal_databases(database_, fresh);
}

// As after an upgrade: all that is stored was told by an earlier reading, and by other rules.
TEST_F(KillTest, ReadingAnewGoesOnWhereverItWasKilled) {
  const std::vector<Kind> kinds = {Kind::nemo, Kind::progress_bar, Kind::time_first,
                                   Kind::time_last, Kind::megatron_lm};
  for (std::size_t i = 0; i < 20; ++i) {
    write("log-" + std::to_string(i) + ".out", log_of(kinds[i % kinds.size()]));
    set_age("log-" + std::to_string(i) + ".out", std::chrono::hours(24 * (i + 2)));
  }
  ingest_to_the_end(database_);
  storage::execute_sql(database_,
                       "UPDATE run SET reading = 0, failure_cause = 'hung',"
                       " step_time_s_mean = 1, lines_not_understood = 99");
  storage::execute_sql(database_, "DELETE FROM run_segment");
  std::mt19937 random(kSeed);
  for (int i = 0; i < 20; ++i) {
    const pid_t pid = start(anew());
    ASSERT_GT(pid, 0);
    std::this_thread::sleep_for(milliseconds(20 + random() % 150));
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
  }
  run_to_the_end(anew());
  const std::string fresh = folder_.string() + "/fresh.db";
  ingest_to_the_end(fresh);
  expect_equal_databases(database_, fresh);
}

}  // namespace
}  // namespace llmb::ingest
