// A process that is killed while it saves leaves a checkpoint that loads: the one before, or the
// whole new one.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "runner/checkpoint/checkpoint.h"
#include "runner/parallel/loopback_communicator.h"
#include "tests/runner/checkpoint/trained_ranks.h"
#include "tests/temporary_folder.h"

namespace llmb::runner {
namespace {

namespace fs = std::filesystem;

// A started runner_save_and_die, with its output in a pipe.
class Child {
 public:
  Child(const fs::path& path, std::int64_t completed_steps, int dies_at) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    const std::string program = LLMB_BINARY_DIR "/bin/runner_save_and_die";
    const std::string steps = std::to_string(completed_steps);
    const std::string moment = std::to_string(dies_at);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execl(program.c_str(), program.c_str(), path.c_str(), steps.c_str(), moment.c_str(),
            static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ends[1]);
    output_ = fdopen(ends[0], "r");
  }
  ~Child() {
    finish();
    fclose(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Empty at the end.
  std::string line() {
    char buffer[200];
    if (fgets(buffer, sizeof buffer, output_) == nullptr) return "";
    const std::string text = buffer;
    return text.substr(0, text.find('\n'));
  }
  void kill_now() const { kill(process_, SIGKILL); }
  // Its exit status as waitpid has it.
  int finish() {
    if (process_ > 0) waitpid(process_, &status_, 0);
    process_ = -1;
    return status_;
  }

 private:
  pid_t process_ = -1;
  int status_ = 0;
  FILE* output_ = nullptr;
};

// The step of the checkpoint that loads, whose weights must say the same.
std::int64_t loaded_step(const fs::path& path) {
  const auto world = make_loopback_world();
  const auto layout = Layout::make({}, 1);
  const auto trainer = testing::make_trainer(*world, tiny_llama(), *layout, 1);
  const std::int64_t step = load_checkpoint(path, *trainer);
  for (const LocalParameter<testing::Backend>& local : trainer->store().parameters()) {
    for (const float weight : local.weight) EXPECT_EQ(weight, static_cast<float>(step));
  }
  return step;
}

TEST(CheckpointCrash, LeavesTheOldOneOrTheWholeNewOneAtEveryMoment) {
  const TemporaryFolder directory;
  std::int64_t last = 1;
  EXPECT_EQ(Child(directory.path(), last, 1000).finish(), 0);
  int moments = 0;
  for (;; ++moments) {
    ASSERT_LT(moments, 100);
    const std::int64_t next = last + 1;
    Child child(directory.path(), next, moments);
    const std::string moment = child.line();
    const int status = child.finish();
    if (WIFEXITED(status)) {  // there are no more moments: this save went through
      EXPECT_EQ(WEXITSTATUS(status), 0);
      EXPECT_EQ(loaded_step(directory.path()), next);
      break;
    }
    const std::int64_t found = loaded_step(directory.path());
    const bool is_switched = moment == "latest written" || moment == "end";
    EXPECT_EQ(found, is_switched ? next : last) << moment;
    last = found;
  }
  EXPECT_GE(moments, 7);
  for (const auto& entry : fs::directory_iterator(directory.path())) {
    EXPECT_NE(entry.path().filename(), ".saving");
  }
}

TEST(CheckpointCrash, SurvivesAKillAtAnyTime) {
  const TemporaryFolder directory;
  std::mt19937 random(5);
  std::int64_t first = 1;
  for (int round = 0; round < 6; ++round) {
    Child child(directory.path(), first, -1);
    std::int64_t saved = 0;
    const int lines = std::uniform_int_distribution<int>(1, 8)(random);
    for (int i = 0; i < lines; ++i) saved = std::stoll(child.line().substr(6));
    child.kill_now();
    child.finish();
    const std::int64_t found = loaded_step(directory.path());
    EXPECT_GE(found, saved);
    first = found + 1;
  }
}

}  // namespace
}  // namespace llmb::runner
