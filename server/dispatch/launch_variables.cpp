#include "server/dispatch/launch_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parser/foundation/parse_number.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::fail;
using parser::Result;

// What is set in the field to make a cluster's network work, and MAX_STEPS of the recipes. None of
// them loads a library or names a file to write.
constexpr auto kAllowed = std::to_array<std::string_view>({"CUDA_DEVICE_MAX_CONNECTIONS",
                                                           "MAX_STEPS",
                                                           "NCCL_ALGO",
                                                           "NCCL_BUFFSIZE",
                                                           "NCCL_CROSS_NIC",
                                                           "NCCL_DEBUG",
                                                           "NCCL_DEBUG_SUBSYS",
                                                           "NCCL_IB_DISABLE",
                                                           "NCCL_IB_GID_INDEX",
                                                           "NCCL_IB_HCA",
                                                           "NCCL_IB_QPS_PER_CONNECTION",
                                                           "NCCL_IB_RETRY_CNT",
                                                           "NCCL_IB_SL",
                                                           "NCCL_IB_TC",
                                                           "NCCL_IB_TIMEOUT",
                                                           "NCCL_MAX_NCHANNELS",
                                                           "NCCL_MIN_NCHANNELS",
                                                           "NCCL_NET_GDR_LEVEL",
                                                           "NCCL_NVLS_ENABLE",
                                                           "NCCL_P2P_DISABLE",
                                                           "NCCL_P2P_LEVEL",
                                                           "NCCL_PROTO",
                                                           "NCCL_SHM_DISABLE",
                                                           "NCCL_SOCKET_IFNAME",
                                                           "NVTE_FUSED_ATTN",
                                                           "OMP_NUM_THREADS",
                                                           "UCX_NET_DEVICES",
                                                           "UCX_TLS"});

constexpr auto kSecrets = std::to_array<std::string_view>({"HF_TOKEN"});

constexpr std::int64_t kNumberMax = 10'000'000;

Result<std::int64_t> number_of(const std::string& value) {
  const auto number = parser::parse_integer(value, 0, kNumberMax);
  if (!number) return fail("which is no whole number");
  return *number;
}

Result<bool> flag_of(const std::string& value) {
  std::string lower = value;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  return fail("which is neither true nor false");
}

// Sets the field where it is not set. True where it did.
using Setter = Result<bool> (*)(Submission&, const std::string&);

template <std::string Submission::*field>
Result<bool> set_text(Submission& submission, const std::string& value) {
  if (!(submission.*field).empty()) return false;
  submission.*field = value;
  return true;
}

template <bool Submission::*field>
Result<bool> set_flag(Submission& submission, const std::string& value) {
  const auto wanted = flag_of(value);
  if (!wanted) return tl::unexpected(wanted.error());
  if (submission.*field || !*wanted) return false;
  submission.*field = true;
  return true;
}

template <std::optional<std::int64_t> Submission::*field>
Result<bool> set_number(Submission& submission, const std::string& value) {
  const auto number = number_of(value);
  if (!number) return tl::unexpected(number.error());
  if (submission.*field) return false;
  submission.*field = *number;
  return true;
}

Result<bool> set_scale(Submission& submission, const std::string& value) {
  const auto number = number_of(value);
  if (!number) return tl::unexpected(number.error());
  if (submission.scale != 0) return false;
  submission.scale = *number;
  return true;
}

struct LaunchVariable {
  std::string_view name;
  std::string_view field;
  Setter set;
};
// The newer name of two comes first, and counts.
constexpr auto kLaunchVariables = std::to_array<LaunchVariable>({
    {"JOB_TOTAL_GPUS", "scale", set_scale},
    {"DTYPE", "dtype", set_text<&Submission::dtype>},
    {"MODEL_SIZE", "model_size", set_text<&Submission::model_size>},
    {"GPU_TYPE", "gpu_type", set_text<&Submission::gpu_type>},
    {"GPUS_PER_NODE", "gpus_per_node", set_number<&Submission::gpus_per_node>},
    {"ENABLE_PROFILE", "profile", set_flag<&Submission::profile>},
    {"RUN_CONF_PROFILE_START_STEP", "profile_start_step",
     set_number<&Submission::profile_start_step>},
    {"PROFILE_START_STEP", "profile_start_step", set_number<&Submission::profile_start_step>},
    {"RUN_CONF_PROFILE_STOP_STEP", "profile_stop_step", set_number<&Submission::profile_stop_step>},
    {"PROFILE_STOP_STEP", "profile_stop_step", set_number<&Submission::profile_stop_step>},
    {"RUN_CONF_PROFILE_RANKS", "profile_ranks", set_text<&Submission::profile_ranks>},
    {"RUN_CONF_PROFILE_GPU_METRICS", "gpu_metrics", set_flag<&Submission::gpu_metrics>},
    {"ENABLE_GPU_METRICS", "gpu_metrics", set_flag<&Submission::gpu_metrics>},
    {"ENABLE_NCCLTRACE", "nccl_trace", set_flag<&Submission::nccl_trace>},
    {"ENABLE_CHECKPOINT", "checkpoint", set_flag<&Submission::checkpoint>},
    {"LOAD_CHECKPOINT_PATH", "load_checkpoint_path", set_text<&Submission::load_checkpoint_path>},
    {"RUN_CONF_IMAGE", "container_image", set_text<&Submission::container_image>},
    {"RUN_CONF_MOUNTS", "container_mounts", set_text<&Submission::container_mounts>},
});

}  // namespace

Result<void> take_launch_variables(Submission& submission, Environment& environment,
                                   std::string_view where, Origins& origins) {
  for (const LaunchVariable& variable : kLaunchVariables) {
    const auto found = environment.find(variable.name);
    if (found == environment.end()) continue;
    const std::string value = found->second;
    environment.erase(found);
    if (value.empty()) continue;
    const auto was_set = variable.set(submission, value);
    if (!was_set) {
      return fail(fmt::format("{} of {} is {}, {}", variable.name, where, in_quotes(value),
                              was_set.error().message));
    }
    if (*was_set) {
      origins[std::string(variable.field)] = fmt::format("{} of {}", variable.name, where);
    }
  }
  return {};
}

std::vector<std::string_view> launch_variable_names() {
  std::vector<std::string_view> names;
  names.reserve(kLaunchVariables.size() + 1);
  for (const LaunchVariable& variable : kLaunchVariables) names.push_back(variable.name);
  names.push_back(kNodeCountVariable);
  return names;
}

bool is_allowed_variable(std::string_view name, const std::set<std::string, std::less<>>& further) {
  return std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end() ||
         further.contains(name);
}

std::vector<std::string_view> allowed_variables() {
  std::vector<std::string_view> names(kAllowed.begin(), kAllowed.end());
  for (const LaunchVariable& variable : kLaunchVariables) names.push_back(variable.name);
  names.push_back(kNodeCountVariable);
  return names;
}

bool is_secret_variable(std::string_view name) {
  return std::find(kSecrets.begin(), kSecrets.end(), name) != kSecrets.end();
}

std::vector<std::string_view> variables_without_effect() {
  return {"GSW_VERSION"};
}

std::vector<std::string_view> secret_variables() {
  return {kSecrets.begin(), kSecrets.end()};
}

}  // namespace llmb::dispatch
