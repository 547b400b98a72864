#include "server/dispatch/recipe_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "parser/foundation/parse_number.h"
#include "parser/layout/run_path.h"
#include "server/dispatch/account.h"
#include "server/dispatch/file_call.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"

namespace llmb::dispatch {
namespace {

namespace fs = std::filesystem;
using Kind = SbatchAnswer::Kind;

// How far the clocks of this machine and of slurmctld's may be apart.
constexpr std::int64_t kLaunchClockSkewS = 300;
constexpr std::size_t kShownBytesMax = 400;

std::string last_words(std::string_view output, std::string_view errors) {
  std::string text(errors.empty() ? output : errors);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > kShownBytesMax) text = text.substr(text.size() - kShownBytesMax);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = ' ';
  }
  return text.empty() ? "it said nothing" : "it said: " + text;
}

void take_folder(LaunchedRecipe& launched, const ObservedJob& job,
                 const ClusterSettings& settings) {
  const std::string& output = job.output_file;
  const std::string folder = output.empty() || output.front() != '/'
                                 ? job.work_folder
                                 : output.substr(0, output.rfind('/'));
  const std::string root = settings.workload_folder + "/";
  if (!is_plain_path(folder) || !folder.starts_with(root)) return;
  launched.run_folder = folder;
  launched.launch_id =
      parser::parse_run_path(folder.substr(root.size()) + "/log-x.out").launch_id.value_or("");
}

// Right after sbatch, the queue has the job.
SbatchAnswer find_printed_job(LaunchedRecipe& launched, const CommandResult& result,
                              std::int64_t since_s, const ClusterSettings& settings,
                              const SlurmCommands& slurm) {
  const auto id = printed_job_id(result.output + "\n" + result.errors);
  if (!id) {
    return {Kind::refused, 0,
            "launch.sh ended without an error, and printed no job's number; " +
                last_words(result.output, result.errors)};
  }
  const auto queue = slurm.squeue();
  if (!queue) return {Kind::submitted, *id, ""};  // the Poller looks at it
  const auto user = static_cast<std::int64_t>(geteuid());
  const auto job = std::find_if(queue->begin(), queue->end(), [&](const ObservedJob& one) {
    return one.job_id == *id && one.user_id.value_or(user) == user;
  });
  if (job == queue->end() || job->submit_time_s < since_s - kLaunchClockSkewS) {
    return {Kind::refused, 0,
            fmt::format("launch.sh printed the job's number {}, and Slurm has no such job of this "
                        "user that was submitted since; {}",
                        *id, last_words(result.output, result.errors))};
  }
  launched.submit_time_s = job->submit_time_s;
  take_folder(launched, *job, settings);
  return {Kind::submitted, *id,
          launched.run_folder.empty()
              ? fmt::format("its files are not below {}, so no run of it is read",
                            settings.workload_folder)
              : ""};
}

parser::Result<std::string> find_venv(const std::string& workload,
                                      const ClusterSettings& settings) {
  std::error_code error;
  const std::string staged = settings.workload_folder + "/venv";
  if (fs::is_directory(staged, error)) return staged;
  std::vector<std::string> found;
  if (!settings.llmb_install.empty()) {
    for (fs::directory_iterator entry(settings.llmb_install + "/venvs", error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (fs::is_directory(entry->path() / "bin", error)) found.push_back(entry->path().string());
    }
  }
  if (found.size() > 1) {
    std::sort(found.begin(), found.end());
    return parser::fail(fmt::format(
        "{}/venvs holds several virtual environments: 'venvs' in the configuration says which one "
        "is that of {}, for example {}",
        settings.llmb_install, workload, found.front()));
  }
  return found.empty() ? "" : found.front();
}

}  // namespace

std::optional<std::int64_t> printed_job_id(std::string_view output) {
  std::optional<std::int64_t> found;
  for (const std::string_view before : {"Submitted batch job ", "Job id: "}) {
    for (std::size_t at = 0; (at = output.find(before, at)) != std::string_view::npos;) {
      at += before.size();
      const std::size_t end = std::min(output.find_first_not_of("0123456789", at), output.size());
      const auto id = parser::parse_digits(output.substr(at, end - at));
      if (id && *id > 0) found = id;
    }
    if (found) return found;
  }
  return found;
}

parser::Result<std::string> recipe_venv(const std::string& workload,
                                        const ClusterSettings& settings) {
  const auto named = settings.venvs.find(workload);
  if (named != settings.venvs.end()) return named->second;
  return ask_file_system<std::string>(
      settings.workload_folder, [workload, settings] { return find_venv(workload, settings); });
}

parser::Result<Environment> recipe_environment(const Plan& plan, const ClusterSettings& settings,
                                               const Launch& launch, const Environment& secrets) {
  const auto venv = recipe_venv(plan.submission.workload, settings);
  if (!venv) return tl::unexpected(venv.error());
  Environment all = recipe_slurm_environment(plan.slurm);
  all.insert(plan.environment.begin(), plan.environment.end());
  all.insert(secrets.begin(), secrets.end());
  all["PATH"] = (venv->empty() ? "" : *venv + "/bin:") + settings.command_path;
  if (!venv->empty()) all["VIRTUAL_ENV"] = *venv;
  // Where this release of Slurm knows it, the job can be found by its comment too.
  all["SBATCH_COMMENT"] = launch.submission_id;
  if (!settings.slurm_conf.empty()) all["SLURM_CONF"] = settings.slurm_conf;
  const Account account = own_account();
  if (!account.home.empty()) all["HOME"] = account.home;
  all["USER"] = all["LOGNAME"] = account.name;
  return all;
}

LaunchedRecipe launch_recipe(const Plan& plan, const ClusterSettings& settings,
                             const Launch& launch, const RunPlace& place,
                             const Environment& secrets, const SlurmCommands& slurm) {
  LaunchedRecipe launched;
  const auto environment = recipe_environment(plan, settings, launch, secrets);
  if (!environment) {
    launched.answer = {Kind::refused, 0, environment.error().message};
    return launched;
  }
  const std::size_t slash = plan.program.rfind('/');
  CommandRun command;
  // The mark among the arguments tells, after a crash, that launch.sh still runs; the shell stays,
  // for it has something to do afterwards.
  command.arguments = {"/bin/bash", "-c", "/bin/bash \"$1\"; exit $?", launch.submission_id,
                       "./" + plan.program.substr(slash + 1)};
  command.directory = plan.program.substr(0, slash + 1);
  for (const auto& [name, value] : *environment) {
    command.environment.push_back(fmt::format("{}={}", name, value));
  }
  command.deadline = settings.launch_deadline;
  command.output_bytes_max = std::size_t{4} * 1024 * 1024;
  const std::int64_t since_s =
      std::chrono::floor<std::chrono::seconds>(wall_now()).time_since_epoch().count();
  const CommandResult result = run_command(command);
  std::ofstream(place.launch_folder + "/launch.log", std::ios::binary)
      << result.output << result.errors;
  if (result.end == CommandResult::End::not_started) {
    launched.answer = {
        Kind::unavailable, 0,
        fmt::format("launch.sh cannot be started in {}: {}", command.directory, result.errors)};
  } else if (result.end != CommandResult::End::exited) {
    launched.answer = {
        Kind::unknown, 0,
        fmt::format("launch.sh did not end in {} s; {}", settings.launch_deadline.count() / 1000,
                    last_words(result.output, result.errors))};
  } else if (result.exit_code != 0 && !printed_job_id(result.output)) {
    launched.answer = explain_launch(result);
  } else {
    launched.answer = find_printed_job(launched, result, since_s, settings, slurm);
  }
  return launched;
}

}  // namespace llmb::dispatch
