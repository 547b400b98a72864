#include "server/dispatch/batch_script.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <ctime>

#include "parser/foundation/parse_number.h"
#include "server/dispatch/container.h"
#include "server/dispatch/launch_document.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

// Nothing in a configuration can be this line: each of its lines holds a colon.
constexpr std::string_view kHereDocumentEnd = "END_OF_LLMB_CONFIG";
// Stands in the text for what only the job knows.
constexpr std::string_view kJobIdMark = "@job@";

// The variable by which a recipe takes an option of sbatch, as its document says; empty where no
// document names one.
std::string_view name_of_own_variable(std::string_view option) {
  if (option == "account") return "SBATCH_ACCOUNT";
  if (option == "partition") return "SBATCH_PARTITION";
  return option == "gpus-per-node" ? "SBATCH_GPUS_PER_NODE" : "";
}

void export_variable(std::string& script, std::string_view name, std::string_view value) {
  script.append("export ").append(name).append("=").append(shell_quoted(value)).append("\n");
}

void export_environment(std::string& script, const Plan& plan, const ClusterSettings& settings) {
  // What sbatch itself needed is not for the job.
  script += "unset LC_ALL SLURM_TIME_FORMAT\n";
  export_variable(script, "PATH", settings.command_path);
  script += "export HOME=~ USER=\"$SLURM_JOB_USER\" LOGNAME=\"$SLURM_JOB_USER\"\n";
  if (!settings.slurm_conf.empty()) export_variable(script, "SLURM_CONF", settings.slurm_conf);
  if (plan.submission.launcher == "recipe") {
    for (const auto& [name, value] : recipe_slurm_environment(plan.slurm)) {
      export_variable(script, name, value);
    }
  }
  for (const auto& [name, value] : plan.environment) export_variable(script, name, value);
}

void write_llmb_config(std::string& script, const std::string& config) {
  const std::size_t mark = config.find(kJobIdMark);
  const std::size_t line_end = config.find('\n', mark);
  script += "{\n  printf \"job_info:\\n  job_id: '%s'\\n\" \"$job\"\n  cat <<'";
  script.append(kHereDocumentEnd).append("'\n").append(config.substr(line_end + 1));
  script.append(kHereDocumentEnd).append("\n} >\"$log_folder/llmb-config_$job.yaml\"\n\n");
}

// Nsight Systems expands %q{…} by the variables of its rank.
std::string profiler_options(const Submission& submission) {
  std::string options =
      "--sample=none --trace=cuda,nvtx --capture-range=cudaProfilerApi --capture-range-end=stop "
      "--force-overwrite=true";
  if (submission.gpu_metrics) options += " --gpu-metrics-device=all";
  return options;
}

// "0-8,12" as a condition of bash's arithmetic; the plan holds nothing else.
std::string rank_condition(std::string_view ranks) {
  std::string condition;
  while (!ranks.empty()) {
    const std::size_t comma = std::min(ranks.find(','), ranks.size());
    const std::string_view part = ranks.substr(0, comma);
    const std::size_t dash = part.find('-');
    const std::string_view first = part.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : part.substr(dash + 1);
    condition +=
        fmt::format("{}(r >= {} && r <= {})", condition.empty() ? "" : " || ", first, last);
    ranks.remove_prefix(std::min(comma + 1, ranks.size()));
  }
  return condition;
}

// What stands between srun and the runner: Nsight Systems, around the ranks that are profiled.
std::string profiler(const Submission& submission, const std::string& run_folder) {
  const std::string output =
      shell_quoted(run_folder + "/nsys_profile/" + profile_file_name(submission));
  if (submission.profile_ranks == "all") {
    return fmt::format("nsys profile {} --output={} \\\n  ", profiler_options(submission), output);
  }
  return fmt::format(
      "/bin/bash -c 'r=$SLURM_PROCID; if (( {} )); then exec nsys profile {} --output=\"$0\" "
      "\"$@\"; "
      "else exec \"$@\"; fi' {} \\\n  ",
      rank_condition(submission.profile_ranks), profiler_options(submission), output);
}

// SIGTERM goes on to what the job started. USR1 comes a minute before the time limit.
constexpr std::string_view kSignalTraps = R"(child=
trap 'printf "job got SIGTERM at %(%s)T\n" -1; [ -z "$child" ] || kill -TERM "$child"' TERM
trap 'printf "job got SIGUSR1 at %(%s)T: its time limit is near\n" -1' USR1
)";
constexpr std::string_view kWaitForChild = R"(child=$!
wait "$child"
code=$?
while [ "$code" -gt 128 ] && kill -0 "$child" 2>/dev/null; do
  wait "$child"
  code=$?
done
)";

// By which its ranks know one another; nobody sees it but this user's own processes. Without one
// whoever reaches a rank's port could take a place.
constexpr std::string_view kMakeKey =
    R"sh(LLMB_RENDEZVOUS_KEY="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
if [ "${#LLMB_RENDEZVOUS_KEY}" -ne 32 ]; then
  echo "job cannot start: od and tr made no key of /dev/urandom for its ranks; PATH is $PATH"
  printf 'job ended at %(%s)T\n' -1
  echo "job exited with code 1"
  exit 1
fi
export LLMB_RENDEZVOUS_KEY
)sh";

// Which build ran, in the batch script's output.
void identify_runner(std::string& script, const Plan& plan) {
  const std::string program = shell_quoted(plan.program);
  script += "if runner=\"$(command -v " + program + ")\"; then\n";
  script +=
      "  printf 'runner %s: %s, sha256 %s\\n' \"$runner\" \"$(timeout 20 \"$runner\" --version "
      "2>&1 | head -n "
      "1)\" \"$(sha256sum <\"$runner\" | cut -c 1-64)\"\nelse\n";
  script +=
      "  printf 'runner %s: not on node %s; submit --copy-runner puts it where nodes see it\\n' " +
      program + " \"$(uname -n)\"\nfi\n";
}

void start_runner(std::string& script, const Plan& plan, const ClusterSettings& settings,
                  const std::string& run_folder) {
  identify_runner(script, plan);
  script += kMakeKey;
  const Submission& submission = plan.submission;
  // Each node fetches and unpacks the image by itself before its ranks start; where one cannot, its
  // ranks fail, and srun ends the others.
  if (!submission.container_image.empty()) script += "export LLMB_RENDEZVOUS_WAIT_S=3600\n";
  const bool is_profiled = submission.profile && submission.backend == "cuda";
  if (is_profiled) script += "mkdir -p nsys_profile\n";
  // So long srun leaves the other tasks when the first has ended. Nsight Systems writes its report
  // when its rank has, for minutes, and others may not be profiled.
  script += fmt::format("srun --export=ALL --mpi=none --kill-on-bad-exit=1 --wait={}",
                        is_profiled ? 1800 : 60);
  script += fmt::format(" --nodes={} --ntasks={} --ntasks-per-node={}", plan.nodes,
                        submission.scale, plan.ranks_per_node);
  // srun does not take this one over from the job.
  const auto cpus = plan.slurm.find("cpus-per-task");
  if (cpus != plan.slurm.end()) script += " --cpus-per-task=" + shell_quoted(cpus->second);
  if (!settings.cpu_bind.empty()) script += " --cpu-bind=" + shell_quoted(settings.cpu_bind);
  if (!settings.mem_bind.empty()) script += " --mem-bind=" + shell_quoted(settings.mem_bind);
  for (const std::string& option : container_options(plan, settings, run_folder)) {
    script.append(" ").append(shell_quoted(option));
  }
  script += " --output=\"$log\" \\\n  ";
  if (is_profiled) script += profiler(submission, run_folder);
  script += shell_quoted(plan.program);
  for (const std::string& argument : plan.program_arguments) {
    script.append(" ").append(shell_quoted(argument));
  }
  if (submission.checkpoint) {
    script += " " + shell_quoted("--checkpoint-path=" + run_folder +
                                 "/code/nemo_experiments/default/checkpoints");
  }
  // A JSON line a step beside the log: its phases, clocks, power, energy and joules a token.
  script += " --phases=\"$log_folder/phases_$job.jsonl\" &\n";
}

void start_recipe(std::string& script, const Plan& plan) {
  const std::size_t slash = plan.program.rfind('/');
  script += "cd " + shell_quoted(plan.program.substr(0, slash + 1)) + " || exit 1\n";
  // That of 2024 writes the log itself; what else it says belongs to the batch script's output.
  script += "/bin/bash " + shell_quoted("./" + plan.program.substr(slash + 1)) +
            (plan.tree.holds_logs ? " &\n" : " >\"$log\" 2>&1 &\n");
}

Launch launch_at(std::string submission_id, std::string timestamp, std::int64_t unix_s,
                 std::int64_t microseconds) {
  Launch launch{std::move(submission_id), std::move(timestamp), unix_s, microseconds, 0};
  const std::time_t seconds = unix_s;
  std::tm local{};
  localtime_r(&seconds, &local);
  launch.utc_offset_s = local.tm_gmtoff;
  return launch;
}

}  // namespace

Launch new_launch(std::string submission_id, bool is_crowded) {
  static std::atomic<std::int64_t> last_ns = 0;
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  std::int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  std::int64_t before = last_ns;
  do {
    now_ns = std::max(now_ns, before + 1);
  } while (!last_ns.compare_exchange_weak(before, now_ns));
  const std::int64_t unix_s = now_ns / 1'000'000'000;
  return launch_at(std::move(submission_id), fmt::to_string(is_crowded ? now_ns : unix_s), unix_s,
                   now_ns / 1'000 % 1'000'000);
}

Launch recorded_launch(std::string submission_id, std::string_view launch_id) {
  const std::string_view timestamp = launch_id.substr(launch_id.rfind('_') + 1);
  const std::int64_t unix_s = parser::parse_digits(timestamp.substr(0, 10)).value_or(0);
  return launch_at(std::move(submission_id), std::string(timestamp), unix_s, 0);
}

bool goes_by_additional_params(std::string_view option) {
  return name_of_own_variable(option).empty();
}

Environment recipe_slurm_environment(const SlurmParameters& slurm) {
  Environment environment;
  std::string additional;
  for (const auto& [name, value] : slurm) {
    if (const std::string_view own = name_of_own_variable(name); !own.empty()) {
      environment[std::string(own)] = value;
    } else {
      additional.append(additional.empty() ? "" : ";").append(name);
      if (!value.empty()) additional.append("=").append(value);
    }
  }
  if (!additional.empty()) environment["ADDITIONAL_SLURM_PARAMS"] = additional;
  return environment;
}

RunPlace run_place(const Plan& plan, const ClusterSettings& settings, const Launch& launch) {
  RunPlace place;
  place.launch_id = plan.experiment + "_" + launch.timestamp;
  const std::string tree = settings.workload_folder + "/" + plan.tree.folder;
  place.launch_folder = tree + "/" + place.launch_id;
  place.run_folder = place.launch_folder + "/" + plan.experiment;
  place.log_folder = plan.tree.holds_logs ? tree : place.run_folder;
  place.job_name =
      plan.account_prefix.empty() ? plan.experiment : plan.account_prefix + "." + plan.experiment;
  place.script_file = place.launch_folder + "/" + plan.experiment + "_sbatch.sh";
  return place;
}

std::string batch_script(const Plan& plan, const ClusterSettings& settings, const Launch& launch) {
  const RunPlace place = run_place(plan, settings, launch);
  std::string script = "#!/bin/bash\n# Written by llmb-report: submission " + launch.submission_id +
                       ", " + plan.experiment + " on " + plan.cluster + ".\n\n";
  export_environment(script, plan, settings);
  script += "\njob=\"${SLURM_JOB_ID:?this script is for sbatch}\"\n";
  script += "run_folder=" + shell_quoted(place.run_folder) + "\n";
  script += "log_folder=" + shell_quoted(place.log_folder) + "\n";
  script += "log=\"$log_folder\"/" + shell_quoted("log-" + place.job_name) +
            "_\"${job}_${SLURM_RESTART_COUNT:-0}.out\"\n";
  script += "cd \"$run_folder\" || exit 1\n";
  // With instants, which nobody else tells where there is no accounting.
  script += "echo \"job started, restart ${SLURM_RESTART_COUNT:-0}\"\n";
  script += "printf 'job started at %(%s)T\\n' -1\n\n";
  // The dumps of a thousand ranks fill a file system.
  script += "ulimit -c 0\n";
  script += kSignalTraps;
  script += "\n";
  write_llmb_config(script, llmb_config_text(plan, settings, launch, kJobIdMark));
  if (plan.submission.launcher == "recipe") {
    start_recipe(script, plan);
  } else {
    start_runner(script, plan, settings, place.run_folder);
  }
  script += kWaitForChild;
  script += "printf 'job ended at %(%s)T\\n' -1\n";
  script += "echo \"job exited with code $code\"\nexit \"$code\"\n";
  return script;
}

std::vector<std::string> sbatch_arguments(const Plan& plan, const ClusterSettings& settings,
                                          const Launch& launch) {
  const RunPlace place = run_place(plan, settings, launch);
  std::vector<std::string> arguments = {
      "sbatch",
      "--parsable",
      // Of sbatch's own environment, which is minimal: anything else, NONE and NIL too, makes the
      // node run a login shell of the user for its environment, and fail where it takes two
      // seconds.
      "--export=ALL",
      "--job-name=" + place.job_name,
      "--comment=" + launch.submission_id,
      fmt::format("--nodes={}", plan.nodes),
      fmt::format("--ntasks-per-node={}", plan.ranks_per_node),
      "--chdir=" + place.run_folder,
      "--output=" + place.run_folder + "/sbatch_" + place.job_name + "_%j.out",
      "--open-mode=append",
  };
  if (!plan.slurm.contains("signal")) arguments.emplace_back("--signal=B:USR1@60");
  for (std::string& option : sbatch_options(plan.slurm)) arguments.push_back(std::move(option));
  arguments.push_back(place.script_file);
  return arguments;
}

}  // namespace llmb::dispatch
