// A launch as the recipe documents write it: variables in the shell, planned for a cluster that has
// the recipes' launch scripts.
#pragma once

#include <string>

#include "server/dispatch/plan_submission.h"

namespace llmb::dispatch {

inline const RunnerFacts kLaunchRunner{"llmb-step-runner 1.0", {"cpu", "cuda"}, ""};

inline ClusterSettings launch_settings() {
  ClusterSettings settings;
  settings.name = "eos";
  settings.workload_folder = "/lustre/workloads/pretrain";
  settings.launch_scripts = {{"pretrain_grok1", "/opt/llmb/grok1/launch.sh"},
                             {"pretrain_nemotron4", "/opt/llmb/nemotron4/launch.sh"}};
  return settings;
}

// `workload` launched with these variables in the shell.
inline parser::Result<Plan> plan_launch(const std::string& workload, const Environment& shell,
                                        const Submission& flags = {}) {
  ClusterSettings of_shell = launch_settings();
  of_shell.launch_environment = shell;
  of_shell.knows_shell = true;
  Submission submission = flags;
  submission.workload = workload;
  return plan_submission(submission, of_shell, parser::embedded_catalog(), kLaunchRunner);
}

// "VALUE by ORIGIN".
inline std::string origin_of(const Plan& plan, const std::string& name) {
  for (const PlannedValue& value : plan.values) {
    if (value.name == name) return value.value + " by " + value.origin;
  }
  return "nothing";
}

}  // namespace llmb::dispatch
