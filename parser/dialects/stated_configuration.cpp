// Lines, with where they stand:
//   GSW: MODEL=grok1 FRAMEWORK=nemo MODEL_SIZE=314b JOB_NUM_NODES=64 GPUS_PER_NODE=8 DTYPE=fp8 …
//                                         the recipes of 25.01 echo it before they start
//   Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/512      Lightning, one process a GPU
//   using world size: 16, data-parallel-size: 1, tensor-model-parallel size: 4, …    Megatron-LM
//   GPU 0: NVIDIA B200 (UUID: …)                                  nvidia-smi -L
//   llmb-step-runner configuration: backend=cpu workload=pretrain_grok1 dtype=bf16 …   its keys are
//                                         those of RunConfiguration
#include "parser/dialects/stated_configuration.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "parser/dialects/fields.h"
#include "parser/dialects/step_line_grammar.h"
#include "parser/foundation/text.h"
#include "parser/layout/name_tokens.h"

namespace llmb::parser {
namespace {

constexpr std::string_view kLauncher = "GSW: MODEL=";
constexpr std::string_view kMember = "MEMBER: 1/";
constexpr std::string_view kWorldSize = "using world size: ";
constexpr std::string_view kGpuList = "GPU 0: NVIDIA ";
constexpr std::string_view kStepRunner = step_line_grammar::step_runner::kConfigurationMarker;
constexpr std::array kLiterals = {kLauncher, kMember, kWorldSize, kGpuList, kStepRunner};

using Name = std::pair<std::string_view, std::string_view>;
constexpr std::array kLauncherKeys = {
    Name{"MODEL", "model"},           Name{"FRAMEWORK", "framework"},
    Name{"MODEL_SIZE", "model_size"}, Name{"JOB_NUM_NODES", "node_count"},
    Name{"DTYPE", "dtype"},           Name{"GPUS_PER_NODE", "gpus_per_node"},
    Name{"GSW_VERSION", "release"},   Name{"FW_VERSION", "framework_version"},
};
constexpr std::array kWorldSizeFields = {
    Name{"using world size: ", "gpu_count"},
    Name{"tensor-model-parallel size: ", "tensor_parallel"},
    Name{"pipeline-model-parallel size: ", "pipeline_parallel"},
    Name{"context-parallel size: ", "context_parallel"},
};
// As nvidia-smi spells them, and as the recipes do.
constexpr std::array<std::string_view, 9> kGpuTypes = {"GB300", "GB200", "GH200", "B300", "B200",
                                                       "H200",  "H100",  "A100",  "H20"};
constexpr std::size_t kValueBytesMax = 64;
constexpr std::size_t kStepRunnerKeysMax = 32;

// A name or a number, as the launcher's variables hold: anything else is another kind of line.
bool is_plain(std::string_view value) {
  return !value.empty() && value.size() <= kValueBytesMax &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '-' || c == '_';
         });
}

// The shell's trace (+ echo GSW: …) and the line itself say the same.
void read_launcher(std::string_view rest, std::vector<StatedValue>& values) {
  for (const std::string_view field : split(rest, ' ')) {
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = field.substr(equals + 1);
    for (const auto& [name, key] : kLauncherKeys) {
      if (field.substr(0, equals) != name || !is_plain(value)) continue;
      values.push_back({std::string(key), lower(value)});
      // The recipes of that time name a workload by its model.
      if (key == "model") values.push_back({"workload", lower(value)});
    }
    if (field.starts_with("BASE_CONFIG=")) return;  // the rest is the program's own options
  }
}

void add_count(std::string_view text, std::string_view key, std::vector<StatedValue>& values) {
  const auto count = take_integer(text);
  if (count && *count > 0) values.push_back({std::string(key), std::to_string(*count)});
}

void read_world_size(std::string_view line, std::vector<StatedValue>& values) {
  for (const auto& [name, key] : kWorldSizeFields) {
    std::size_t at = line.find(name);
    // "hierarchical context-parallel sizes" and the like are fields of other names.
    while (at != std::string_view::npos && at >= 2 && key != "gpu_count" &&
           line.substr(at - 2, 2) != ", ") {
      at = line.find(name, at + 1);
    }
    if (at != std::string_view::npos) add_count(line.substr(at + name.size()), key, values);
  }
}

void read_gpu(std::string_view rest, std::vector<StatedValue>& values) {
  const std::string_view model = rest.substr(0, rest.find('('));
  for (const std::string_view part : split(model, ' ')) {
    const std::string_view type = part.substr(0, part.find('-'));
    if (std::find(kGpuTypes.begin(), kGpuTypes.end(), type) == kGpuTypes.end()) continue;
    values.push_back({"gpu_type", lower(type)});
    return;
  }
}

bool is_key(std::string_view key) {
  return !key.empty() && key.size() <= kValueBytesMax &&
         std::all_of(key.begin(), key.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

void read_step_runner(std::string_view rest, std::vector<StatedValue>& values) {
  for (const std::string_view field : split(trimmed(rest), ' ')) {
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos || values.size() == kStepRunnerKeysMax) return;
    const std::string_view value = field.substr(equals + 1);
    if (!is_key(field.substr(0, equals)) || !is_plain(value)) return;
    values.push_back({std::string(field.substr(0, equals)), std::string(value)});
  }
}

}  // namespace

std::span<const std::string_view> stated_configuration_literals() {
  return kLiterals;
}

std::vector<StatedValue> read_stated_configuration(const Record& record) {
  std::vector<StatedValue> values;
  const auto behind = [&](std::string_view literal) -> std::optional<std::string_view> {
    const std::size_t at = record.text.find(literal);
    if (at == std::string_view::npos) return std::nullopt;
    return record.text.substr(at + literal.size());
  };
  if (behind(kLauncher)) {
    read_launcher(record.text.substr(record.text.find(kLauncher)), values);
  } else if (const auto members = behind(kMember)) {
    add_count(*members, "gpu_count", values);
  } else if (behind(kWorldSize)) {
    read_world_size(record.text, values);
  } else if (const auto gpu = behind(kGpuList)) {
    read_gpu(*gpu, values);
  } else if (const auto runner = behind(kStepRunner)) {
    read_step_runner(*runner, values);
  }
  return values;
}

RunConfiguration stated_configuration(const LogFacts& facts) {
  RunConfiguration configuration;
  for (const StatedValue& value : facts.stated) {
    configuration.set(value.key, value.value, ConfigSource::log_content);
  }
  return configuration;
}

}  // namespace llmb::parser
