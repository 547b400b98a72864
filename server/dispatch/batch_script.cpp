#include "server/dispatch/batch_script.h"

#include <array>
#include <random>

#include "parser/foundation/hex.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

// Nothing in a configuration can be this line: each of its lines holds a colon.
constexpr std::string_view kHereDocumentEnd = "END_OF_LLMB_CONFIG";
// Stands in the text for what only the job knows.
constexpr std::string_view kJobIdMark = "@job@";

void export_variable(std::string& script, std::string_view name, std::string_view value) {
  script.append("export ").append(name).append("=").append(shell_quoted(value)).append("\n");
}

// A recipe's launch.sh that submits by itself reads these.
Environment slurm_environment(const SlurmParameters& slurm) {
  Environment environment;
  std::string additional;
  for (const auto& [name, value] : slurm) {
    if (name == "account") {
      environment["SBATCH_ACCOUNT"] = value;
    } else if (name == "partition") {
      environment["SBATCH_PARTITION"] = value;
    } else if (name == "gpus-per-node") {
      environment["SBATCH_GPUS_PER_NODE"] = value;
    } else {
      additional.append(additional.empty() ? "" : ";").append(name);
      if (!value.empty()) additional.append("=").append(value);
    }
  }
  if (!additional.empty()) environment["ADDITIONAL_SLURM_PARAMS"] = additional;
  return environment;
}

void export_environment(std::string& script, const Plan& plan, const ClusterSettings& settings) {
  // What sbatch itself needed is not for the job.
  script += "unset LC_ALL SLURM_TIME_FORMAT\n";
  export_variable(script, "PATH", settings.command_path);
  script += "export HOME=~ USER=\"$SLURM_JOB_USER\" LOGNAME=\"$SLURM_JOB_USER\"\n";
  if (!settings.slurm_conf.empty()) export_variable(script, "SLURM_CONF", settings.slurm_conf);
  if (plan.submission.launcher == "recipe") {
    for (const auto& [name, value] : slurm_environment(plan.slurm)) {
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
  script.append(kHereDocumentEnd).append("\n} >\"llmb-config_$job.yaml\"\n\n");
}

// The variables of a rank are expanded by Nsight Systems itself (%q{…}).
std::string profiler(const std::string& run_folder) {
  return "nsys profile --sample=none --trace=cuda,nvtx --capture-range=cudaProfilerApi "
         "--capture-range-end=stop --force-overwrite=true --output=" +
         shell_quoted(run_folder +
                      "/nsys_profile/profile_%q{SLURM_JOB_ID}_%q{SLURM_NODEID}_"
                      "%q{SLURM_LOCALID}") +
         " \\\n  ";
}

void start_runner(std::string& script, const Plan& plan, const std::string& run_folder) {
  const Submission& submission = plan.submission;
  const bool is_profiled = submission.profile && submission.backend == "cuda";
  if (is_profiled) script += "mkdir -p nsys_profile\n";
  script += "srun --export=ALL --mpi=none --kill-on-bad-exit=1 --wait=60";
  script += " --nodes=" + std::to_string(plan.nodes) +
            " --ntasks=" + std::to_string(submission.scale) +
            " --ntasks-per-node=" + std::to_string(plan.ranks_per_node);
  // srun does not take this one over from the job.
  const auto cpus = plan.slurm.find("cpus-per-task");
  if (cpus != plan.slurm.end()) script += " --cpus-per-task=" + shell_quoted(cpus->second);
  script += " --output=\"$log\" \\\n  ";
  if (is_profiled) script += profiler(run_folder);
  script += shell_quoted(plan.program);
  for (const std::string& argument : plan.program_arguments) {
    script.append(" ").append(shell_quoted(argument));
  }
  if (submission.checkpoint) {
    script += " " + shell_quoted("--checkpoint-path=" + run_folder +
                                 "/code/nemo_experiments/default/checkpoints");
  }
  script += "\n";
}

void start_recipe(std::string& script, const Plan& plan) {
  const std::size_t slash = plan.program.rfind('/');
  script += "cd " + shell_quoted(plan.program.substr(0, slash + 1)) + " || exit 1\n";
  script +=
      "/bin/bash " + shell_quoted("./" + plan.program.substr(slash + 1)) + " >\"$log\" 2>&1\n";
}

}  // namespace

RunPlace run_place(const Plan& plan, const ClusterSettings& settings, const Launch& launch) {
  RunPlace place;
  place.launch_id = plan.experiment + "_" + std::to_string(launch.launched_at_s);
  place.launch_folder =
      settings.workload_folder + "/experiments/" + plan.experiment + "/" + place.launch_id;
  place.run_folder = place.launch_folder + "/" + plan.experiment;
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
  script += "log=\"$run_folder\"/" + shell_quoted("log-" + place.job_name) +
            "_\"${job}_${SLURM_RESTART_COUNT:-0}.out\"\n";
  script += "cd \"$run_folder\" || exit 1\n";
  // With instants, which nobody else tells where there is no accounting.
  script += "echo \"job started, restart ${SLURM_RESTART_COUNT:-0}\"\n";
  script += "printf 'job started at %(%s)T\\n' -1\n\n";
  write_llmb_config(script, llmb_config_text(plan, settings, launch, kJobIdMark));
  if (plan.submission.launcher == "recipe") {
    start_recipe(script, plan);
  } else {
    start_runner(script, plan, place.run_folder);
  }
  script += "code=$?\nprintf 'job ended at %(%s)T\\n' -1\n";
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
      "--nodes=" + std::to_string(plan.nodes),
      "--ntasks-per-node=" + std::to_string(plan.ranks_per_node),
      "--chdir=" + place.run_folder,
      "--output=" + place.run_folder + "/sbatch_" + place.job_name + "_%j.out",
      "--open-mode=append",
  };
  for (std::string& option : sbatch_options(plan.slurm)) arguments.push_back(std::move(option));
  arguments.push_back(place.script_file);
  return arguments;
}

std::string new_submission_id() {
  std::random_device random;
  std::string id = "llmb-";
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t bits = random();
    for (std::uint32_t shift = 0; shift < 32; shift += 4)
      id += parser::kHexDigits[(bits >> shift) & 15U];
  }
  return id;
}

}  // namespace llmb::dispatch
