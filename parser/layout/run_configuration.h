// RunConfiguration: what is known of how a run was launched. Every value keeps its source, and
// where two sources disagree both are kept: the documents' names do not reflect user overrides,
// and llmb-config holds a coarse dtype where the experiment's name holds the fine one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmb::parser {

enum class ConfigSource { llmb_config, experiment_name, path, log_content };
std::string_view config_source_name(ConfigSource source);
std::optional<ConfigSource> config_source_from_name(std::string_view name);
// The same for a reader. A GPU type whose source is `path` came from --gpu-type or a root's
// gpu_type, for no path names one; it is kept, and pushed, as a path's.
std::string_view told_source_name(std::string_view key, ConfigSource source);

struct ConfigValue {
  std::string value;
  ConfigSource source = ConfigSource::path;
  bool operator==(const ConfigValue&) const = default;
};

// Keys are snake_case: workload, workload_type (pretrain, sft …), model_recipe_name (the model as
// the name spells it), model, model_size, dtype, gpu_type, gpu_count, gpus_per_node, node_count,
// tensor_parallel, pipeline_parallel, context_parallel, virtual_pipeline, expert_parallel,
// expert_tensor_parallel, micro_batch_size, global_batch_size, recompute_layers (of
// llmb-step-runner, where they are not the row's), release, framework, framework_version, cluster,
// profile_enabled, nccl_trace_enabled, proxy, document, strong_scaling …
class RunConfiguration {
 public:
  // Adds a value beside those of other sources; the same source's earlier value is replaced.
  // Empty values say nothing and are not kept; gpu_type, dtype and model_size are kept in lower
  // case, as the catalog names them.
  void set(std::string key, std::string value, ConfigSource source);
  // The same where no source has a value of that key.
  void fill_in(const std::string& key, const std::string& value, ConfigSource source);

  // The value to use: llmb_config, then experiment_name, path, log_content; but for dtype the
  // experiment's name first, when it refines what llmb-config says (fp8_cs for fp8).
  std::optional<ConfigValue> get(std::string_view key) const;
  std::optional<std::string> value(std::string_view key) const;

  // All values of all keys, best first within a key.
  const std::map<std::string, std::vector<ConfigValue>, std::less<>>& all() const {
    return values_;
  }
  // Keys for which two sources disagree beyond refinement.
  std::vector<std::string> conflicting_keys() const;
  // What this one source says.
  RunConfiguration from(ConfigSource source) const;
  // Sets every value of `other`.
  void merge(const RunConfiguration& other);

  bool operator==(const RunConfiguration&) const = default;

 private:
  std::map<std::string, std::vector<ConfigValue>, std::less<>> values_;
};

}  // namespace llmb::parser
