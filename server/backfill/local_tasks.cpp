#include "server/backfill/local_tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace llmb::backfill {
namespace {

// Signals do in a task what they do in any program, whatever is blocked here.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::string& output_file) {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output_file.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

LocalTasks::LocalTasks(const WorkFolder& work, std::string program, std::vector<std::int64_t> tasks,
                       std::int64_t at_once)
    : work_(work),
      program_(std::move(program)),
      waiting_(std::move(tasks)),
      at_once_(static_cast<std::size_t>(std::max<std::int64_t>(1, at_once))) {
  std::reverse(waiting_.begin(), waiting_.end());
}

LocalTasks::~LocalTasks() {
  for (const auto& [process, task] : running_) kill(process, SIGTERM);
  for (const auto& [process, task] : running_) {
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void LocalTasks::start(std::int64_t task) {
  std::vector<std::string> words = {program_,     "backfill", "--work-folder",
                                    work_.path(), "--task",   fmt::to_string(task)};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const SpawnSettings settings(work_.output_file(task));
  pid_t process = 0;
  const int error = posix_spawn(&process, program_.c_str(), settings.actions(),
                                settings.attributes(), arguments.data(), environ);
  if (error != 0) {
    throw std::runtime_error(
        fmt::format("cannot start {} for task {}: {}", program_, task, std::strerror(error)));
  }
  running_.emplace(process, task);
}

bool LocalTasks::advance() {
  std::erase_if(running_, [](const auto& child) {
    const pid_t ended = waitpid(child.first, nullptr, WNOHANG);
    return ended == child.first || (ended < 0 && errno == ECHILD);
  });
  while (!waiting_.empty() && running_.size() < at_once_) {
    const std::int64_t task = waiting_.back();
    waiting_.pop_back();
    start(task);
  }
  return !running_.empty();
}

}  // namespace llmb::backfill
