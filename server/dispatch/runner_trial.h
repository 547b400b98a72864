// RunnerTrials: whether llmb-step-runner takes the options of a plan, as it says itself on this
// machine by --dry-run. The rules for layouts and sizes are the runner's; where it cannot be asked
// here, the job finds out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/command_run.h"
#include "server/dispatch/plan.h"
#include "server/dispatch/runner_facts.h"

namespace llmb::dispatch {

struct RunnerVerdict {
  std::string refusal;  // why it does not start; empty where it would
  std::string lack;     // of memory, by its own plan, though it starts; mostly empty
  std::vector<std::string> notes = {};  // where it does otherwise than the row says
};

// Pure. What is no verdict on the options, such as a runner that has no --dry-run, is none.
RunnerVerdict runner_verdict(const CommandResult& dry_run);

// Of one request: jobs that are alike are tried once.
class RunnerTrials {
 public:
  RunnerTrials(const ClusterSettings& settings, const RunnerFacts& runner)
      : settings_(settings), runner_(runner) {}
  RunnerVerdict of(const Plan& plan);

 private:
  RunnerVerdict ask(const Plan& plan) const;

  const ClusterSettings& settings_;
  const RunnerFacts& runner_;
  std::map<std::pair<std::vector<std::string>, Environment>, RunnerVerdict> known_;
};

}  // namespace llmb::dispatch
