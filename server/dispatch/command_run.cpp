#include "server/dispatch/command_run.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace llmb::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorBytesMax = std::size_t{64} * 1024;

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int end(std::size_t which) const { return ends_.at(which); }
  void close_end(std::size_t which) {
    if (ends_.at(which) >= 0) close(ends_.at(which));
    ends_.at(which) = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

// The program's process, or -errno.
int spawn(const CommandRun& command, const Pipe& output, const Pipe& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.end(1), STDERR_FILENO);
  // Whatever this process has open, sockets of clients included, is none of the program's.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  if (!command.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments = pointers(command.arguments);
  std::vector<char*> environment = pointers(command.environment);
  pid_t process = -1;
  const int failed = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(),
                                  environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed != 0 ? -failed : process;
}

// False when the pipe has ended. Beyond `bytes_max` bytes are read, and not kept.
bool take_bytes(int descriptor, std::string& into, std::size_t bytes_max, bool& is_over) {
  std::array<char, 65'536> buffer{};
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const auto bytes = static_cast<std::size_t>(count);
  const std::size_t room = bytes_max - std::min(bytes_max, into.size());
  into.append(buffer.data(), std::min(room, bytes));
  is_over = is_over || bytes > room;
  return bytes > 0;
}

// Reads until both pipes end, the deadline passes, or the output grows too long.
CommandResult::End collect(const CommandRun& command, const Pipe& output, const Pipe& errors,
                           CommandResult& result) {
  const auto end_at = Clock::now() + command.deadline;
  std::array<pollfd, 2> waits{{{output.end(0), POLLIN, 0}, {errors.end(0), POLLIN, 0}}};
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_at - Clock::now());
    if (left.count() <= 0) return CommandResult::End::timed_out;
    if (poll(waits.data(), waits.size(), static_cast<int>(left.count())) <= 0) continue;
    bool is_over = false;
    bool unused = false;
    if (waits[0].revents != 0 &&
        !take_bytes(waits[0].fd, result.output, command.output_bytes_max, is_over)) {
      waits[0].fd = -1;
    }
    if (waits[1].revents != 0 && !take_bytes(waits[1].fd, result.errors, kErrorBytesMax, unused)) {
      waits[1].fd = -1;
    }
    if (is_over) return CommandResult::End::output_too_long;
  }
  return CommandResult::End::exited;
}

// Waits until `end_at` for the process; false when it still runs then.
bool wait_for(pid_t process, Clock::time_point end_at, int& status) {
  constexpr timespec kTurn{0, 5'000'000};
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (Clock::now() >= end_at) return false;
    nanosleep(&kTurn, nullptr);
  }
  return true;
}

}  // namespace

std::string find_program(const std::string& name, const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string file = path.substr(begin, end - begin) + "/" + name;
    if (end > begin && access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

CommandResult run_command(const CommandRun& command) {
  CommandResult result;
  Pipe output;
  Pipe errors;
  const auto end_at = Clock::now() + command.deadline;
  const int process = spawn(command, output, errors);
  if (process < 0) {
    result.errors = std::strerror(-process);
    return result;
  }
  output.close_end(1);
  errors.close_end(1);
  result.end = collect(command, output, errors, result);
  int status = 0;
  const bool has_ended =
      result.end == CommandResult::End::exited && wait_for(process, end_at, status);
  // What it started goes too; while the process is not waited for, its group's id is its own.
  if (!has_ended) {
    kill(-process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (result.end == CommandResult::End::exited) result.end = CommandResult::End::timed_out;
    return result;
  }
  if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  } else {
    result.end = CommandResult::End::signalled;
  }
  return result;
}

}  // namespace llmb::dispatch
