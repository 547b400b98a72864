// Runs another program by argv: no shell, an environment of its own, a deadline, and a bound on
// what is kept of its output. Where one of these ends it, all that is left in its process group
// ends with it. What a program that ended by itself has left behind is let be: a site's sbatch or
// somebody's launch.sh may mean it to go on. As long as that holds the output open, it is waited
// for.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace llmb::dispatch {

struct CommandRun {
  std::vector<std::string> arguments;    // the first is the program; without '/' sought in PATH
  std::vector<std::string> environment;  // "NAME=value"; nothing else reaches the program
  std::chrono::milliseconds deadline{20'000};
  std::size_t output_bytes_max = std::size_t{256} * 1024 * 1024;
  std::string directory = {};  // where it runs; empty: where this process does
};

struct CommandResult {
  enum class End { exited, signalled, timed_out, output_too_long, not_started };
  End end = End::not_started;
  int exit_code = 0;   // of `exited`
  std::string output;  // stdout
  std::string errors;  // the first 64 KiB of stderr; for `not_started` why
  bool is_ok() const { return end == End::exited && exit_code == 0; }
};

// May be called from any thread; waits for the end.
CommandResult run_command(const CommandRun& command);

// The file of a program in a PATH, "/usr/local/bin:/usr/bin"; empty where it is in none of them.
std::string find_program(const std::string& name, const std::string& path);

}  // namespace llmb::dispatch
