#include "tests/server/cli/program_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>

#include "tests/patience.h"

namespace llmb::cli {
namespace {

constexpr uid_t kNobody = 65534;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends.at(end) >= 0) close(ends.at(end));
    ends.at(end) = -1;
  }
};

// Everything is prepared before fork; the child only makes calls that are safe there.
struct Prepared {
  std::vector<std::string> texts;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

[[noreturn]] void become_program(const Prepared& prepared, const ProgramOptions& options,
                                 const Pipe& out, const Pipe& err) {
  const int input = open(options.in_file.c_str(), O_RDONLY);
  const int output =
      options.out_file.empty() ? out.ends[1] : open(options.out_file.c_str(), O_WRONLY);
  const bool ready = chdir(options.folder.c_str()) == 0 && dup2(input, 0) >= 0 &&
                     dup2(output, 1) >= 0 && dup2(err.ends[1], 2) >= 0 &&
                     (!options.without_privileges || geteuid() != 0 || setuid(kNobody) == 0);
  if (ready) execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  _exit(126);
}

// False at the end of the stream.
bool read_some(int descriptor, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(descriptor, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

void collect(Pipe& out, Pipe& err, pid_t child, ProgramRun& run) {
  const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 2> polls = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || poll(polls.data(), 2, static_cast<int>(left.count())) == 0) {
      kill(child, SIGKILL);
      return;
    }
    if (polls[0].revents != 0 && !read_some(out.ends[0], run.out)) out.close_end(0);
    if (polls[1].revents != 0 && !read_some(err.ends[0], run.err)) err.close_end(0);
  }
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  Prepared prepared;
  prepared.texts.emplace_back(LLMB_BINARY_DIR "/bin/llmb-report");
  prepared.texts.insert(prepared.texts.end(), arguments.begin(), arguments.end());
  const std::size_t argument_count = prepared.texts.size();
  for (const auto& [name, value] : options.environment) {
    prepared.texts.push_back(std::string(name).append("=").append(value));
  }
  for (std::size_t i = 0; i < prepared.texts.size(); ++i) {
    (i < argument_count ? prepared.argv : prepared.envp).push_back(prepared.texts[i].data());
  }
  prepared.argv.push_back(nullptr);
  prepared.envp.push_back(nullptr);

  Pipe out;
  Pipe err;
  const pid_t child = fork();
  if (child == 0) become_program(prepared, options, out, err);
  out.close_end(1);
  err.close_end(1);
  ProgramRun run;
  collect(out, err, child, run);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  return run;
}

}  // namespace llmb::cli
