// The recipes' environment variables as flags.
#include <fmt/format.h>

#include <cstdlib>

#include "runner/plan/options.h"

namespace llmb::runner {
namespace {

struct Variable {
  const char* name;
  const char* flag;
};

constexpr Variable kOptionVariables[] = {
    {"JOB_TOTAL_GPUS", "--scale"},
    {"DTYPE", "--dtype"},
    {"MODEL_SIZE", "--model-size"},
    {"GPU_TYPE", "--gpu-type"},
    {"ENABLE_PROFILE", "--profile"},
    // Two of the documents name them so, the other two as below.
    {"PROFILE_START_STEP", "--profile-start-step"},
    {"PROFILE_STOP_STEP", "--profile-stop-step"},
    {"RUN_CONF_PROFILE_START_STEP", "--profile-start-step"},
    {"RUN_CONF_PROFILE_STOP_STEP", "--profile-stop-step"},
    {"ENABLE_NCCLTRACE", "--nccl-trace"},
    {"ENABLE_CHECKPOINT", "--checkpoint"},
    {"LOAD_CHECKPOINT_PATH", "--load-checkpoint"},
};

// They say what nsys collects, and from which ranks; this program profiles by itself, on rank 0.
constexpr const char* kVariablesWithoutEffect[] = {
    "ENABLE_GPU_METRICS", "RUN_CONF_PROFILE_GPU_METRICS", "RUN_CONF_PROFILE_RANKS"};

void add_variable(const char* name, Environment& environment) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (value != nullptr) environment[name] = value;
}

}  // namespace

Environment process_environment() {
  Environment environment;
  for (const Variable& variable : kOptionVariables) add_variable(variable.name, environment);
  for (const char* name : kVariablesWithoutEffect) add_variable(name, environment);
  return environment;
}

std::vector<std::string> variables_without_effect(const Environment& environment) {
  std::vector<std::string> names;
  for (const char* name : kVariablesWithoutEffect) {
    const auto set = environment.find(name);
    if (set != environment.end() && !set->second.empty()) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> flags_from_environment(const Environment& environment) {
  std::vector<std::string> flags;
  for (const Variable& variable : kOptionVariables) {
    const auto set = environment.find(variable.name);
    if (set == environment.end() || set->second.empty()) continue;
    flags.push_back(fmt::format("{}={}", variable.flag, set->second));
  }
  return flags;
}

}  // namespace llmb::runner
