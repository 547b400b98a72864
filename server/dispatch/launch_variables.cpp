#include "server/dispatch/launch_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
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

Result<void> read_value(const std::string& text, std::string& into) {
  into = text;
  return {};
}

Result<void> read_value(const std::string& text, bool& into) {
  const std::string lower = parser::lower(text);
  into = lower == "true" || lower == "1";
  if (into || lower == "false" || lower == "0") return {};
  return fail("which is neither true nor false");
}

Result<void> read_value(const std::string& text, std::int64_t& into) {
  const auto number = parser::parse_integer(text, 0, kNumberMax);
  if (!number) return fail("which is no whole number");
  into = *number;
  return {};
}

Result<void> read_value(const std::string& text, std::optional<std::int64_t>& into) {
  return read_value(text, into.emplace());
}

bool is_set(const std::string& value) {
  return !value.empty();
}
bool is_set(bool value) {
  return value;
}
bool is_set(std::int64_t value) {
  return value != 0;
}
bool is_set(const std::optional<std::int64_t>& value) {
  return value.has_value();
}

std::string text_of(const std::string& value) {
  return value;
}
std::string text_of(bool value) {
  return value ? "true" : "false";
}
std::string text_of(std::int64_t value) {
  return fmt::to_string(value);
}
std::string text_of(const std::optional<std::int64_t>& value) {
  return fmt::to_string(*value);
}

using Member = std::variant<std::string Submission::*, bool Submission::*,
                            std::int64_t Submission::*, std::optional<std::int64_t> Submission::*>;

struct LaunchVariable {
  std::string_view name;
  std::string_view field;
  Member member;
};
// The newer name of two comes first, and counts.
constexpr auto kLaunchVariables = std::to_array<LaunchVariable>({
    {"JOB_TOTAL_GPUS", "scale", &Submission::scale},
    {"DTYPE", "dtype", &Submission::dtype},
    {"MODEL_SIZE", "model_size", &Submission::model_size},
    {"GPU_TYPE", "gpu_type", &Submission::gpu_type},
    {"GPUS_PER_NODE", "gpus_per_node", &Submission::gpus_per_node},
    {"ENABLE_PROFILE", "profile", &Submission::profile},
    {"RUN_CONF_PROFILE_START_STEP", "profile_start_step", &Submission::profile_start_step},
    {"PROFILE_START_STEP", "profile_start_step", &Submission::profile_start_step},
    {"RUN_CONF_PROFILE_STOP_STEP", "profile_stop_step", &Submission::profile_stop_step},
    {"PROFILE_STOP_STEP", "profile_stop_step", &Submission::profile_stop_step},
    {"RUN_CONF_PROFILE_RANKS", "profile_ranks", &Submission::profile_ranks},
    {"RUN_CONF_PROFILE_GPU_METRICS", "gpu_metrics", &Submission::gpu_metrics},
    {"ENABLE_GPU_METRICS", "gpu_metrics", &Submission::gpu_metrics},
    {"ENABLE_NCCLTRACE", "nccl_trace", &Submission::nccl_trace},
    {"ENABLE_CHECKPOINT", "checkpoint", &Submission::checkpoint},
    {"LOAD_CHECKPOINT_PATH", "load_checkpoint_path", &Submission::load_checkpoint_path},
    {"RUN_CONF_IMAGE", "container_image", &Submission::container_image},
    {"RUN_CONF_MOUNTS", "container_mounts", &Submission::container_mounts},
});

// What a variable said before has an origin: "false", too, outranks what comes later. The note of
// one that gives way.
template <typename Value>
std::string give(Value& now, const Value& said, const std::string& source, std::string_view text,
                 std::string_view field, Origins& origins) {
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    if (said == 0) return {};  // says nothing
  }
  if (!is_set(now) && !origins.contains(field)) {
    now = said;
    origins[std::string(field)] = source;
    return {};
  }
  if (now == said) return {};
  return set_aside_note(source, text, {field, text_of(now), origin_of(field, origins)});
}

}  // namespace

Result<std::vector<std::string>> take_launch_variables(Submission& submission,
                                                       Environment& environment,
                                                       std::string_view where, Origins& origins) {
  std::vector<std::string> notes;
  for (const LaunchVariable& variable : kLaunchVariables) {
    const auto found = environment.find(variable.name);
    if (found == environment.end()) continue;
    const std::string value = found->second;
    environment.erase(found);
    if (value.empty()) continue;
    const std::string source = fmt::format("{} of {}", variable.name, where);
    const auto take = [&](auto member) -> Result<std::string> {
      Submission said;
      if (auto read = read_value(value, said.*member); !read) return tl::unexpected(read.error());
      spell_as_catalog(said);
      return give(submission.*member, said.*member, source, value, variable.field, origins);
    };
    auto note = std::visit(take, variable.member);
    if (!note) {
      return fail(fmt::format("{} is {}, {}", source, in_quotes(value), note.error().message));
    }
    if (!note->empty()) notes.push_back(*std::move(note));
  }
  return notes;
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
  return {"GSW_VERSION", "MAX_STEPS"};
}

std::vector<std::string_view> secret_variables() {
  return {kSecrets.begin(), kSecrets.end()};
}

}  // namespace llmb::dispatch
