#include "server/dispatch/runner_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>

#include "server/dispatch/command_run.h"
#include "server/dispatch/file_call.h"
#include "server/dispatch/slurm_commands.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using FileMark = std::pair<std::uintmax_t, std::int64_t>;

struct Look {
  FileMark file;
  std::optional<RunnerFacts> facts;  // nothing: the file is the one that is known
};

FileMark mark_of(const std::string& file) {
  std::error_code error;
  const std::uintmax_t size = file.empty() ? 0 : fs::file_size(file, error);
  const auto written =
      file.empty() || error ? fs::file_time_type() : fs::last_write_time(file, error);
  if (file.empty() || error) return {0, 0};
  return {size, written.time_since_epoch().count()};
}

}  // namespace

std::string runner_file(const ClusterSettings& settings) {
  if (settings.runner.find('/') != std::string::npos) return settings.runner;
  return find_program(settings.runner, settings.command_path);
}

RunnerFacts parse_runner_version(std::string_view output) {
  constexpr std::string_view kBackends = "backends:";
  RunnerFacts facts;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = trimmed(output.substr(0, end));
    output.remove_prefix(std::min(end + 1, output.size()));
    if (!line.starts_with(kBackends)) {
      if (facts.version.empty() && is_printable(line)) facts.version = line;
      continue;
    }
    line.remove_prefix(kBackends.size());
    while (!(line = trimmed(line)).empty()) {
      const std::size_t word = std::min(line.find_first_of(" ,"), line.size());
      if (is_name(line.substr(0, word))) facts.backends.emplace_back(line.substr(0, word));
      line.remove_prefix(std::min(word + 1, line.size()));
    }
  }
  return facts;
}

RunnerFacts ask_runner(const ClusterSettings& settings) {
  RunnerFacts unknown;
  const std::string file = runner_file(settings);
  if (file.empty()) {
    unknown.trouble = fmt::format("there is no {} on this machine, in {}",
                                  in_quotes(settings.runner), settings.command_path);
    return unknown;
  }
  CommandRun command;
  command.arguments = {file, "--version"};
  command.environment = {"PATH=" + settings.command_path};
  command.deadline = settings.command_deadline;
  const CommandResult result = run_command(command);
  if (!result.is_ok()) {
    unknown.trouble = explain_failure(in_quotes(file) + " --version", result);
    if (result.end == CommandResult::End::not_started) {
      unknown.trouble +=
          "; name another by 'runner' in the configuration, or start a copy by --copy-runner";
    }
    return unknown;
  }
  RunnerFacts facts = parse_runner_version(result.output);
  facts.file = file;
  return facts;
}

RunnerFacts RunnerProbe::facts() {
  // By the wall clock: ThreadSanitizer does not see the lock that a steady clock's wait takes.
  // Where that clock is set meanwhile, the wait is as long as the one who asks, and that one has a
  // bound.
  const std::unique_lock lock(mutex_, std::chrono::system_clock::now() + kFilePatience);
  if (!lock.owns_lock()) {
    RunnerFacts unknown;
    unknown.trouble = fmt::format("{} is being asked, and has not answered for {} s",
                                  in_quotes(settings_.runner), kFilePatience.count() / 1000);
    return unknown;
  }
  const bool is_known = facts_.trouble.empty() && !facts_.version.empty();
  // Whoever starts a program waits until its file is read: on a thread that may be left behind.
  const auto look = [settings = settings_, known = is_known
                                                       ? std::optional(file_)
                                                       : std::nullopt]() -> parser::Result<Look> {
    const FileMark now = mark_of(runner_file(settings));
    if (now == known) return Look{now, std::nullopt};
    return Look{now, ask_runner(settings)};
  };
  auto looked =
      ask_file_system<Look>(settings_.runner, look, settings_.command_deadline + kFilePatience);
  if (!looked) {
    RunnerFacts unknown;
    unknown.trouble = looked.error().message;
    return unknown;
  }
  file_ = looked->file;
  if (looked->facts) facts_ = *std::move(looked->facts);
  return facts_;
}

}  // namespace llmb::dispatch
