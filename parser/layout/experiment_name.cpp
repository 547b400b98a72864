// Forms, by release (the anchor is the dtype: the last token that is one and has a model before
// it):
//   until 25.04   pretrain_llama3.1_405b_bf16_128, with _nsys or _nccltrace
//   NeMo 2.2      pretrain_llama4_e128_fp8_64nodes_tp4_pp1_cp1_vp1_ep128_etp4_1mbs_1024gbs
//   25.05-26.06   pretrain_llama31_405b_fp8_cs_gpus128_tp2_pp1_cp1_vpNone_ep1_mbs1_gbs64
//   documents     pretraining_llama4_maverick_400b_<dtype>_<scale>_<config>
// Names of other makers (gpt3_175b_megatron_lm_gpus64, llama3-8b-8gpu-tp1-pp1-gbs128-mbs2-fp8) say
// only what a token of theirs says by itself; what is a model's name in them is not told apart.
// Kubernetes jobs cut the name at 33 characters, and so possibly inside its last token.
#include "parser/layout/experiment_name.h"

#include <algorithm>
#include <array>
#include <string>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "parser/layout/name_tokens.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kKubernetesNameLength = 33;
constexpr auto kSource = ConfigSource::experiment_name;

struct TokenKey {
  std::string_view token;
  std::string_view key;
};
constexpr std::array kTokenKeys = {
    TokenKey{"gpus", "gpu_count"},       TokenKey{"nodes", "node_count"},
    TokenKey{"tp", "tensor_parallel"},   TokenKey{"pp", "pipeline_parallel"},
    TokenKey{"cp", "context_parallel"},  TokenKey{"vp", "virtual_pipeline"},
    TokenKey{"ep", "expert_parallel"},   TokenKey{"etp", "expert_tensor_parallel"},
    TokenKey{"mbs", "micro_batch_size"}, TokenKey{"gbs", "global_batch_size"},
};

// The workloads whose names differ from their models' spelling in experiment names.
struct KnownModel {
  std::string_view spelling;
  std::string_view model;
  std::string_view size;  // empty: the next token says it
};
constexpr std::array kKnownModels = {
    KnownModel{"llama31", "llama3.1", ""},
    KnownModel{"llama3", "llama3.1", ""},  // llama3_70b and llama3_8b are recipes of Llama 3.1
    KnownModel{"llama4_e128", "llama4_maverick", "400b"},
};

void set_model(const std::vector<std::string_view>& tokens, std::size_t dtype_index,
               RunConfiguration& configuration) {
  std::size_t size_index = dtype_index;
  for (std::size_t i = 2; i < dtype_index && size_index == dtype_index; ++i) {
    if (is_model_size(tokens[i])) size_index = i;
  }
  const std::string spelling = join_tokens(tokens, 1, size_index);
  std::string model = spelling;
  std::string size;
  if (size_index < dtype_index) size = tokens[size_index];
  for (const KnownModel& known : kKnownModels) {
    if (known.spelling != spelling) continue;
    model = known.model;
    if (size.empty()) size = known.size;
  }
  const std::string type(workload_type(tokens[0]));
  configuration.set("workload_type", type, kSource);
  configuration.set("workload", type + "_" + model, kSource);
  configuration.set("model", model, kSource);
  configuration.set("model_size", size, kSource);
  configuration.set("model_recipe_name", join_tokens(tokens, 1, dtype_index), kSource);
}

// "tp4", "4tp", "vpNone": the key, and the number or "none".
void set_token(std::string_view token, RunConfiguration& configuration) {
  if (token == "nsys") configuration.set("profile_enabled", "true", kSource);
  if (token == "nccltrace") configuration.set("nccl_trace_enabled", "true", kSource);
  for (const TokenKey& known : kTokenKeys) {
    std::string_view value;
    if (token.starts_with(known.token)) {
      value = token.substr(known.token.size());
    } else if (token.ends_with(known.token)) {
      value = token.substr(0, token.size() - known.token.size());
    }
    const auto number = parse_digits(value);
    if (number) configuration.set(std::string(known.key), std::to_string(*number), kSource);
    if (value == "None") configuration.set(std::string(known.key), "none", kSource);
  }
}

std::optional<std::string> number_behind(std::string_view token, std::string_view word) {
  if (!token.starts_with(word)) return std::nullopt;
  const auto number = parse_digits(token.substr(word.size()));
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

// "gpus64", "64gpus", "8gpu"; a token without its word says nothing.
void set_lone_token(std::string_view token, bool names_layout, RunConfiguration& configuration) {
  for (const std::string_view word : {"gpus", "gpu"}) {
    if (!token.ends_with(word)) continue;
    const auto number = parse_digits(token.substr(0, token.size() - word.size()));
    if (number) configuration.set("gpu_count", std::to_string(*number), kSource);
  }
  for (const TokenKey& known : kTokenKeys) {
    // Alone, ep10 may be ten epochs: beside tp it is the layout.
    if (known.key.ends_with("parallel") && !names_layout) continue;
    const auto number = number_behind(token, known.token);
    if (number) configuration.set(std::string(known.key), *number, kSource);
  }
}

// A size or dtype counts only where the name holds one of its kind.
void set_lone_tokens(std::string_view name, RunConfiguration& configuration) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  std::vector<std::string_view> sizes;
  std::vector<std::string_view> dtypes;
  const std::vector<std::string_view> tokens = split(text, '_');
  const bool names_layout = std::any_of(tokens.begin(), tokens.end(), [](auto token) {
    return number_behind(token, "tp").has_value();
  });
  for (const std::string_view token : tokens) {
    if (is_dtype(token)) dtypes.push_back(token);
    if (is_model_size(token) && token.back() == 'b') sizes.push_back(token);
    set_lone_token(token, names_layout, configuration);
  }
  if (sizes.size() == 1) configuration.set("model_size", std::string(sizes[0]), kSource);
  if (dtypes.size() == 1) configuration.set("dtype", std::string(dtypes[0]), kSource);
}

// 0 where there is none.
std::size_t find_dtype(const std::vector<std::string_view>& tokens) {
  for (std::size_t i = tokens.size(); i-- > 2;) {
    if (is_dtype(tokens[i])) return i;
  }
  return 0;
}

}  // namespace

RunConfiguration parse_experiment_name(std::string_view name) {
  RunConfiguration configuration;
  std::vector<std::string_view> tokens = split(name, '_');
  if (workload_type(tokens[0]).empty()) {
    set_lone_tokens(name, configuration);
    return configuration;
  }
  const bool may_be_cut = name.size() == kKubernetesNameLength &&
                          name.find("_gbs") == std::string_view::npos &&
                          name.find("gpus") != std::string_view::npos;
  if (may_be_cut) tokens.pop_back();

  const std::size_t dtype_index = find_dtype(tokens);
  if (dtype_index == 0 || tokens[1].empty()) {
    // A cut name's last token may be cut too: gpus128 that ends as gpus12.
    if (!may_be_cut) set_lone_tokens(name, configuration);
    return configuration;
  }
  std::size_t next = dtype_index + 1;
  std::string dtype(tokens[dtype_index]);
  if (next < tokens.size() && is_dtype_variant(tokens[next])) {
    dtype += '_';
    dtype += tokens[next++];
  }
  set_model(tokens, dtype_index, configuration);
  configuration.set("dtype", dtype, kSource);

  // The bare number of the older names is the scale; a later one is a job id.
  if (next < tokens.size()) {
    const auto gpu_count = parse_digits(tokens[next]);
    if (gpu_count) configuration.set("gpu_count", std::to_string(*gpu_count), kSource);
  }
  for (; next < tokens.size(); ++next) set_token(tokens[next], configuration);
  return configuration;
}

}  // namespace llmb::parser
