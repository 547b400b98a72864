#include "server/dispatch/runner_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/dispatch/file_call.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

// As runner/plan/options.h has them, which this program does not include: a refusal's first words
// and exit code, and the exit code and first words of a plan that does not fit.
constexpr std::string_view kRunnerRefused = "llmb-step-runner: refused: ";
constexpr int kExitUsage = 2;
constexpr int kExitDoesNotFit = 3;
constexpr std::string_view kDoesNotFit = "\ndoes not fit: ";
// As runner/plan/plan_text.cpp has a note; and the end of one of Nsight's variables, which the job
// hears beside the runner.
constexpr std::string_view kNote = "           note: ";
constexpr std::string_view kWithoutEffect = "has no effect on this program";

// As runner/plan/pass_graphs.cpp says that a run that was asked for them has none.
constexpr std::string_view kNoGraphs = "\n           no CUDA graphs: ";

std::string in_one_line(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = trimmed(lines.substr(0, end));
    if (!line.empty()) text.append(text.empty() ? "" : "; ").append(line);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

// Where the row contradicts itself, or the plan does more than it states.
std::vector<std::string> notes_in(std::string_view plan) {
  std::vector<std::string> notes;
  while (!plan.empty()) {
    const std::size_t end = std::min(plan.find('\n'), plan.size());
    const std::string_view line = plan.substr(0, end);
    if (line.starts_with(kNote) && !line.ends_with(kWithoutEffect)) {
      notes.push_back("llmb-step-runner: " + std::string(line.substr(kNote.size())));
    }
    plan.remove_prefix(std::min(end + 1, plan.size()));
  }
  return notes;
}

// What the plan that does not fit says of itself; empty where it fits.
std::string lack_in(const std::string& plan) {
  const std::size_t told = plan.rfind(kDoesNotFit);
  if (told == std::string::npos) return {};
  std::string_view text = std::string_view(plan).substr(told + kDoesNotFit.size());
  // What would change the model is no advice for a recipe.
  text = text.substr(0, text.find("\n--num-layers "));
  return in_one_line(text);
}

// What was asked for is what the job's llmb-config says that it has.
std::string lack_of_graphs(const std::string& plan) {
  const std::size_t told = plan.find(kNoGraphs);
  if (told == std::string::npos) return {};
  const std::string_view why = std::string_view(plan).substr(told + kNoGraphs.size());
  return fmt::format("llmb-step-runner has no CUDA graphs here: {}; leave out --set cuda-graphs",
                     why.substr(0, why.find('\n')));
}

}  // namespace

RunnerVerdict runner_verdict(const CommandResult& dry_run) {
  if (dry_run.end != CommandResult::End::exited) return {};
  if (dry_run.exit_code == kExitUsage) {
    const std::size_t refused = dry_run.errors.find(kRunnerRefused);
    if (refused == std::string::npos) return {};
    return {
        "llmb-step-runner refuses it: " +
            in_one_line(std::string_view(dry_run.errors).substr(refused + kRunnerRefused.size())),
        "",
        {}};
  }
  if (dry_run.exit_code != 0 && dry_run.exit_code != kExitDoesNotFit) return {};
  return {lack_of_graphs(dry_run.output), dry_run.exit_code == 0 ? "" : lack_in(dry_run.output),
          notes_in(dry_run.output)};
}

RunnerVerdict RunnerTrials::of(const Plan& plan) {
  if (runner_.file.empty() || plan.submission.launcher != "runner") return {};
  const auto [known, is_new] = known_.try_emplace({plan.program_arguments, plan.environment});
  if (is_new) known->second = ask(plan);
  return known->second;
}

RunnerVerdict RunnerTrials::ask(const Plan& plan) const {
  CommandRun command;
  command.arguments = {runner_.file, "--dry-run"};
  command.arguments.insert(command.arguments.end(), plan.program_arguments.begin(),
                           plan.program_arguments.end());
  for (const auto& [name, value] : plan.environment) {
    command.environment.push_back(fmt::format("{}={}", name, value));
  }
  command.environment.push_back("PATH=" + settings_.command_path);
  command.deadline = settings_.command_deadline;
  const auto result = ask_file_system<CommandResult>(
      settings_.runner, [command] { return parser::Result<CommandResult>(run_command(command)); },
      settings_.command_deadline + kFilePatience);
  if (!result) return {};
  RunnerVerdict verdict = runner_verdict(*result);
  // On a CPU a plan counts the memory of this machine, not of the nodes.
  if (plan.submission.backend != "cuda") verdict.lack.clear();
  return verdict;
}

}  // namespace llmb::dispatch
