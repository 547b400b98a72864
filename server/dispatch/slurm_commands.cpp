#include "server/dispatch/slurm_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {
namespace {

constexpr std::size_t kMessageBytesMax = 600;

// The error lines of a command without its name, joined, and free of what is not printable.
std::string said_by(std::string_view command, std::string_view errors) {
  std::string result;
  const std::string prefix = std::string(command) + ": ";
  while (!errors.empty() && result.size() < kMessageBytesMax) {
    const std::size_t end = std::min(errors.find('\n'), errors.size());
    std::string_view line = trimmed(errors.substr(0, end));
    errors.remove_prefix(std::min(end + 1, errors.size()));
    for (const std::string_view word : {std::string_view(prefix), std::string_view("error: ")}) {
      if (line.substr(0, word.size()) == word) line.remove_prefix(word.size());
    }
    if (!line.empty()) result.append(result.empty() ? "" : "; ").append(line);
  }
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return result.substr(0, kMessageBytesMax);
}

struct Advice {
  std::string_view said;
  SbatchAnswer::Kind kind;
  std::string_view advice;
};
constexpr auto kRefused = SbatchAnswer::Kind::refused;
constexpr auto kUnavailable = SbatchAnswer::Kind::unavailable;
constexpr auto kUnknown = SbatchAnswer::Kind::unknown;

constexpr std::string_view kGpusAreRequired =
    "this cluster is configured with GRES: set SBATCH_GPUS_PER_NODE to all GPUs of a node, or give "
    "--slurm-arg gpus-per-node=N or gres=gpu:N ('slurm' in the configuration)";

// The first whose words sbatch said counts.
constexpr auto kAdvice = std::to_array<Advice>({
    {"Socket timed out", kUnknown, ""},
    {"Zero Bytes were transmitted", kUnknown, ""},
    {"Message receive failure", kUnknown, ""},
    {"Unable to contact slurm controller", kUnavailable,
     "slurmctld does not answer; ask whoever runs the cluster, and submit again later"},
    {"Unable to establish", kUnavailable, "the cluster's configuration is not found from here"},
    {"Could not establish a configuration source", kUnavailable,
     "no slurm.conf is found: set 'slurm_conf'"},
    {"Munge", kUnavailable, "munged has to run on this machine, with the cluster's key"},
    {"Invalid authentication credential", kUnavailable,
     "munged has to run on this machine, with the cluster's key"},
    {"error in a unpack", kUnavailable, "client and controller are of different releases"},
    // The recipes' documents: such errors mean that SBATCH_GPUS_PER_NODE is required.
    {"without GPU resources", kRefused, kGpusAreRequired},
    {"GPUs not found", kRefused, kGpusAreRequired},
    {"GPU not found", kRefused, kGpusAreRequired},
    {"nvalid partition", kRefused, "`sinfo` lists the partitions; name one with 'partition'"},
    {"nvalid account", kRefused,
     "`sacctmgr show associations user=$USER` lists yours; name one with 'account'"},
    {"nvalid qos", kRefused, "`sacctmgr show qos` lists them; name one with 'qos'"},
    {"nvalid reservation", kRefused, "`scontrol show reservation` lists them"},
    {"reservation is invalid", kRefused, "`scontrol show reservation` lists them"},
    {"nvalid job array", kRefused,
     "the cluster takes no array of so many tasks (MaxArraySize): ask for fewer"},
    {"nvalid node name", kRefused, "`sinfo --Node` lists the nodes"},
    {"nvalid feature", kRefused, "`sinfo --format='%N %f'` lists the nodes' features"},
    {"nvalid generic resource", kRefused,
     "the cluster is not configured with this gres: leave out gpus-per-node and gres"},
    {"accounting/QOS policy", kRefused,
     "a quota is used up: wait for your other jobs, or ask for less or for another QOS"},
    {"time limit", kRefused, "ask for less 'time', or name another partition"},
    {"node configuration is not available", kRefused,
     "no nodes like these are in the partition: ask for fewer GPUs, or name another partition"},
    {"Node count specification invalid", kRefused,
     "the partition has not so many nodes: ask for fewer GPUs, or name another partition"},
    {"More processors requested than permitted", kRefused, "ask for fewer GPUs or CPUs a node"},
    {"Memory specification can not be satisfied", kRefused, "ask for less 'mem'"},
    {"ermission denied", kRefused, "this user may not submit so: another partition or account?"},
    {"nrecognized option", kRefused, "this release of Slurm does not know the option"},
});

// By the first of kAdvice whose words were said.
std::optional<SbatchAnswer> advise(const std::string& said) {
  for (const Advice& known : kAdvice) {
    if (!parser::holds(said, known.said)) continue;
    std::string message = "Slurm said: " + said;
    if (!known.advice.empty()) message.append(". What to do: ").append(known.advice);
    return SbatchAnswer{known.kind, 0, message};
  }
  return std::nullopt;
}

std::optional<std::int64_t> job_id_of(std::string_view output) {
  const auto id = parser::parse_digits(output.substr(0, output.find_first_of("\n;")));
  return id && *id > 0 ? id : std::nullopt;
}

// In lines "41|/its/folder".
std::optional<std::int64_t> job_of_folder(const std::string& text, const std::string& folder) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::size_t bar = std::min(line.find('|'), line.size());
    if (bar < line.size() && line.substr(bar + 1) == folder) {
      if (const auto id = job_id_of(line.substr(0, bar))) return id;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::string explain_failure(std::string_view command, const CommandResult& result) {
  const std::string name(command);
  switch (result.end) {
    case CommandResult::End::not_started:
      return fmt::format("{} cannot be started: {}", name, result.errors);
    case CommandResult::End::timed_out:
      return name + " gave no answer in time" +
             (result.errors.empty() ? "" : "; it said: " + said_by(command, result.errors));
    case CommandResult::End::output_too_long:
      return name + "'s answer is too long to be one";
    case CommandResult::End::signalled:
      return name + " crashed: " + said_by(command, result.errors);
    case CommandResult::End::exited:
      break;
  }
  const std::string said = said_by(command, result.errors);
  return fmt::format("{} failed with exit code {}{}", name, result.exit_code,
                     said.empty() ? ", without a word" : ": " + said);
}

SbatchAnswer explain_sbatch(const CommandResult& result) {
  if (result.end == CommandResult::End::not_started) {
    return {SbatchAnswer::Kind::unavailable, 0, explain_failure("sbatch", result)};
  }
  if (result.is_ok()) {
    if (const auto id = job_id_of(result.output)) return {SbatchAnswer::Kind::submitted, *id, ""};
    return {SbatchAnswer::Kind::unknown, 0,
            "sbatch gave no job id, but " + in_quotes(result.output)};
  }
  if (result.end != CommandResult::End::exited) {
    return {SbatchAnswer::Kind::unknown, 0, explain_failure("sbatch", result)};
  }
  const std::string said = said_by("sbatch", result.errors);
  if (auto advised = advise(said)) return *advised;
  return {SbatchAnswer::Kind::refused, 0, explain_failure("sbatch", result)};
}

SbatchAnswer explain_launch(const CommandResult& result) {
  const std::string said = said_by("sbatch", result.errors);
  if (auto advised = advise(said)) return *advised;
  return {SbatchAnswer::Kind::refused, 0, explain_failure("launch.sh", result)};
}

std::vector<std::string> SlurmCommands::environment() const {
  std::vector<std::string> variables = {"PATH=" + settings_.command_path, "LC_ALL=C",
                                        "SLURM_TIME_FORMAT=%s"};
  if (!settings_.slurm_conf.empty()) variables.push_back("SLURM_CONF=" + settings_.slurm_conf);
  return variables;
}

CommandResult SlurmCommands::run(std::vector<std::string> arguments,
                                 const Environment& secrets) const {
  const std::string program = find_program(arguments.front(), settings_.command_path);
  CommandResult result;
  result.errors = "it is not in " + settings_.command_path;
  if (!program.empty()) result = start(program, std::move(arguments), secrets);
  if (result.end == CommandResult::End::not_started) {
    result.errors += ". Are Slurm's commands installed, and does 'command_path' name their folder?";
  }
  return result;
}

CommandResult SlurmCommands::start(const std::string& program, std::vector<std::string> arguments,
                                   const Environment& secrets) const {
  CommandRun command;
  command.environment = environment();
  // The times that sacct is asked about are UTC; a job's own --begin or --deadline is local time.
  if (arguments.front() == "sacct") command.environment.emplace_back("TZ=UTC0");
  for (const auto& [name, value] : secrets) {
    command.environment.push_back(fmt::format("{}={}", name, value));
  }
  arguments.front() = program;
  command.arguments = std::move(arguments);
  command.deadline = settings_.command_deadline;
  return run_command(command);
}

SbatchAnswer SlurmCommands::sbatch(const std::vector<std::string>& arguments,
                                   const Environment& secrets) const {
  return explain_sbatch(run(arguments, secrets));
}

parser::Result<std::vector<ObservedJob>> SlurmCommands::squeue() const {
  const CommandResult result = run({"squeue", "--json", "--states=all"});
  if (!result.is_ok()) return parser::fail(explain_failure("squeue", result));
  return parse_queue(result.output);
}

parser::Result<std::vector<ArrayTask>> SlurmCommands::array_tasks(
    const std::string& comment) const {
  const CommandResult result =
      run({"squeue", "--array", "--noheader", fmt::format("--user={}", geteuid()),
           fmt::format("--format={}", kArrayTaskFormat)});
  if (!result.is_ok()) return parser::fail(explain_failure("squeue", result));
  return parse_array_tasks(result.output, comment);
}

parser::Result<std::vector<ObservedJob>> SlurmCommands::sacct(
    const std::vector<std::int64_t>& job_ids) const {
  const CommandResult result = run({"sacct", "--allocations", "--duplicates", "--parsable2",
                                    "--noheader", fmt::format("--jobs={}", fmt::join(job_ids, ",")),
                                    "--format=" + std::string(kAccountingFields)});
  if (!result.is_ok()) return parser::fail(explain_failure("sacct", result));
  return parse_accounting(result.output);
}

parser::Result<std::optional<std::int64_t>> SlurmCommands::find_by_folder(
    const std::string& folder, std::int64_t since_s) const {
  // The first question is about jobs that could have started; the second one finds those that were
  // held, or waited for a time or another job, when they were cancelled.
  const std::vector<std::vector<std::string>> questions = {{},
                                                           {"--state=CANCELLED", "--endtime=now"}};
  for (const auto& question : questions) {
    std::vector<std::string> words = {
        "sacct",
        "--allocations",
        "--parsable2",
        "--noheader",
        fmt::format("--user={}", geteuid()),
        "--starttime=" + instant_text(instant_of_unix_s(since_s)).substr(0, 19),
        "--format=JobIDRaw,WorkDir"};
    words.insert(words.end(), question.begin(), question.end());
    const CommandResult result = run(words);
    if (!result.is_ok()) return parser::fail(explain_failure("sacct", result));
    if (const auto id = job_of_folder(result.output, folder)) return id;
  }
  return std::optional<std::int64_t>();
}

parser::Result<void> SlurmCommands::scancel(std::int64_t job_id) const {
  const CommandResult result = run({"scancel", fmt::to_string(job_id)});
  if (result.is_ok() || parser::holds(result.errors, "Invalid job id") ||
      parser::holds(result.errors, "already completing or completed")) {
    return {};
  }
  return parser::fail(explain_failure("scancel", result));
}

std::optional<std::int64_t> SlurmCommands::partition_nodes(const std::string& partition) const {
  if (!is_name(partition)) return std::nullopt;
  const CommandResult result =
      run({"sinfo", "--noheader", "--partition=" + partition, "--format=%D"});
  if (!result.is_ok()) return std::nullopt;
  std::int64_t nodes = 0;
  for (std::string_view rest = result.output; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    const auto count = parser::parse_digits(line);
    if (!count) return std::nullopt;
    nodes += *count;
  }
  return nodes > 0 ? std::optional(nodes) : std::nullopt;
}

}  // namespace llmb::dispatch
