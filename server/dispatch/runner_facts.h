// RunnerFacts: what llmb-step-runner says of itself on this machine, by `--version`: its version
// and the backends that its build has. Where it cannot be asked here, why not.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/dispatch/cluster_settings.h"

namespace llmb::dispatch {

struct RunnerFacts {
  std::string version;                // its first line; empty where it did not answer
  std::vector<std::string> backends;  // "cpu", "cuda"; empty where it does not say
  std::string trouble;                // why nothing is known; empty where it answered
  std::string file = {};              // the one that answered; empty where none did
};

// A line "backends: cpu cuda" and the line before it. Pure.
RunnerFacts parse_runner_version(std::string_view output);

// Its path on this machine; empty where it is a name that `command_path` does not have.
std::string runner_file(const ClusterSettings& settings);

// Starts the runner, and waits for its answer up to the settings' deadline.
RunnerFacts ask_runner(const ClusterSettings& settings);

// Remembers the answer for as long as the runner's file stays the same. Thread-safe: one asks at a
// time, and where it gets no answer, the others do not wait for theirs one after another.
class RunnerProbe {
 public:
  explicit RunnerProbe(const ClusterSettings& settings) : settings_(settings) {}
  RunnerFacts facts();

 private:
  const ClusterSettings& settings_;
  std::timed_mutex mutex_;
  std::pair<std::uintmax_t, std::int64_t> file_;  // its size, and when it was written
  RunnerFacts facts_;
};

}  // namespace llmb::dispatch
