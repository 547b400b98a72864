// The recipes' environment variables as flags.
#include <cstdlib>

#include "runner/plan/options.h"

namespace llmb::runner {
namespace {

struct Variable {
  const char* name;
  const char* flag;
};

constexpr Variable kVariables[] = {
    {"JOB_TOTAL_GPUS", "--scale"},
    {"DTYPE", "--dtype"},
    {"MODEL_SIZE", "--model-size"},
    {"GPU_TYPE", "--gpu-type"},
    {"ENABLE_PROFILE", "--profile"},
    {"RUN_CONF_PROFILE_START_STEP", "--profile-start-step"},
    {"RUN_CONF_PROFILE_STOP_STEP", "--profile-stop-step"},
    {"ENABLE_NCCLTRACE", "--nccl-trace"},
    {"ENABLE_CHECKPOINT", "--checkpoint"},
    {"LOAD_CHECKPOINT_PATH", "--load-checkpoint"},
};

}  // namespace

Environment process_environment() {
  Environment environment;
  for (const Variable& variable : kVariables) {
    const char* const value = std::getenv(variable.name);
    if (value != nullptr) environment[variable.name] = value;
  }
  return environment;
}

std::vector<std::string> flags_from_environment(const Environment& environment) {
  std::vector<std::string> flags;
  for (const Variable& variable : kVariables) {
    const auto set = environment.find(variable.name);
    if (set == environment.end() || set->second.empty()) continue;
    flags.push_back(std::string(variable.flag) + "=" + set->second);
  }
  return flags;
}

}  // namespace llmb::runner
