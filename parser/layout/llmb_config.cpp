#include "parser/layout/llmb_config.h"

#include <fmt/format.h>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "parser/foundation/parse_number.h"
#include "parser/layout/name_tokens.h"
#include "parser/layout/overridden_figure.h"
#include "parser/layout/secrets.h"

namespace llmb::parser {
namespace {

constexpr std::size_t kBytesMax = 1U << 20U;
constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kValuesMax = 2'000;  // aliases can multiply a small text
constexpr std::size_t kValueBytesMax = 4'096;

using KeyName = std::pair<std::string_view, std::string_view>;
// Dotted name in the file -> key of RunConfiguration. Others keep their dotted name.
constexpr std::array kKeyNames = {
    KeyName{"workload_info.framework", "framework"},
    KeyName{"workload_info.gsw_version", "release"},
    KeyName{"workload_info.fw_version", "framework_version"},
    KeyName{"workload_info.workload_type", "workload_type"},
    KeyName{"workload_info.synthetic_dataset", "synthetic_dataset"},
    KeyName{"model_info.model_name", "model"},
    KeyName{"model_info.model_size", "model_size"},
    KeyName{"model_info.dtype", "dtype"},
    KeyName{"model_info.scale", "gpu_count"},
    KeyName{"model_info.gpu_type", "gpu_type"},
    KeyName{"cluster_info.cluster_name", "cluster"},
    KeyName{"cluster_info.gpus_per_node", "gpus_per_node"},
    KeyName{"container_info.images", "container_images"},
    KeyName{"job_config.profile_enabled", "profile_enabled"},
    KeyName{"job_config.proxy", "proxy"},
    KeyName{"job_config.strong_scaling", "strong_scaling"},
    KeyName{"job_config.cuda_graphs", "cuda_graphs"},
};
constexpr std::array<std::string_view, 6> kSections = {
    "job_info", "workload_info", "model_info", "cluster_info", "container_info", "job_config"};

// A shape the launcher does not write. Caught in parse_llmb_config only.
struct WrongShape {
  std::string message;
};

std::string at_line(const YAML::Mark& mark) {
  return mark.is_null() ? std::string() : fmt::format(" at line {}", mark.line + 1);
}

std::string scalar_text(const YAML::Node& node, const std::string& name) {
  std::string text = node.Scalar();
  if (text.size() > kValueBytesMax) {
    throw WrongShape{name + at_line(node.Mark()) + " is longer than 4096 bytes"};
  }
  if (text == "True" || text == "False") text[0] = text[0] == 'T' ? 't' : 'f';
  return text;
}

// What is hidden may be of any length.
std::string shown_text(const YAML::Node& node, const std::string& name, Secrecy secrecy) {
  return without_secrets(secrecy == Secrecy::none ? scalar_text(node, name) : node.Scalar(),
                         secrecy);
}

class Flattener {
 public:
  std::vector<std::pair<std::string, std::string>> values;

  // `secrecy`: of the name, or of one above it.
  void add(const YAML::Node& node, const std::string& name, std::size_t depth,
           Secrecy secrecy = Secrecy::none) {
    if (depth > kDepthMax) throw WrongShape{name + " is nested more than 16 deep"};
    if (++nodes_ > kValuesMax) throw WrongShape{"there are more than 2000 values"};
    if (node.IsNull()) return;
    if (node.IsScalar()) {
      values.emplace_back(name, shown_text(node, name, secrecy));
    } else if (node.IsSequence()) {
      add_sequence(node, name, secrecy);
    } else {
      add_map(node, name, depth, secrecy);
    }
  }

 private:
  void add_sequence(const YAML::Node& node, const std::string& name, Secrecy secrecy) {
    std::string joined;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) {
        throw WrongShape{name + at_line(item.Mark()) + " is a list of something else than values"};
      }
      if (++nodes_ > kValuesMax) throw WrongShape{"there are more than 2000 values"};
      joined += joined.empty() ? "" : ", ";
      joined += shown_text(item, name, secrecy);
    }
    values.emplace_back(name, joined);
  }

  void add_map(const YAML::Node& node, const std::string& name, std::size_t depth,
               Secrecy secrecy) {
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        throw WrongShape{name + at_line(entry.first.Mark()) + " has a key that is no plain text"};
      }
      const std::string key = scalar_text(entry.first, name);
      std::string full_name = name;
      if (!name.empty()) full_name += '.';
      full_name += key;
      add(entry.second, full_name, depth + 1, std::max(secrecy, secrecy_of(key)));
    }
  }

  std::size_t nodes_ = 0;
};

void check_sections(const YAML::Node& root) {
  if (!root.IsMap()) throw WrongShape{"the file is not a map of sections such as job_info"};
  bool has_section = false;
  for (const std::string_view section : kSections) {
    const YAML::Node node = root[std::string(section)];
    if (!node.IsDefined()) continue;
    has_section = true;
    if (!node.IsMap() && !node.IsNull()) {
      throw WrongShape{std::string(section) + at_line(node.Mark()) +
                       " should be a map of names to values"};
    }
  }
  if (!has_section) {
    throw WrongShape{"none of the sections job_info, workload_info, model_info … is there"};
  }
}

// cluster_info.slurm_account is known by its last part.
std::string key_for(std::string_view name) {
  for (const auto& [dotted, key] : kKeyNames) {
    if (dotted == name) return std::string(key);
  }
  constexpr std::string_view kSlurmPrefix = "cluster_info.slurm_";
  if (name.starts_with(kSlurmPrefix))
    return std::string(name.substr(std::string_view("cluster_info.").size()));
  return std::string(name);
}

// Last, for they hold whatever the sections before and behind them say of the recipe.
void add_overrides(const std::vector<std::pair<std::string, std::string>>& values,
                   RunConfiguration& configuration) {
  const std::string dtype = configuration.value("dtype").value_or("");
  for (const auto& [name, value] : values) {
    if (!name.starts_with(kModelOverrides)) continue;
    const auto figure = overridden_figure(name, value, dtype);
    configuration.set(figure ? figure->key : name, figure ? figure->value : value,
                      ConfigSource::llmb_config);
  }
}

LlmbConfig build_config(const YAML::Node& root) {
  check_sections(root);
  Flattener flattener;
  flattener.add(root, "", 0);
  LlmbConfig config;
  for (auto& [name, value] : flattener.values) {
    if (name.starts_with(kModelOverrides)) continue;
    if (name == "job_info.job_id") {
      config.job_id = parse_digits(value);
    } else if (name != "job_info.launch_time") {  // local time without a zone orders no runs
      if (name == "workload_info.workload_type" && !workload_type(value).empty()) {
        value = workload_type(value);
      }
      config.configuration.set(key_for(name), value, ConfigSource::llmb_config);
    }
  }
  add_overrides(flattener.values, config.configuration);
  const auto type = config.configuration.value("workload_type");
  const auto model = config.configuration.value("model");
  if (type && model) {
    // Some launchers write the whole workload as the model's name.
    const bool is_whole = model->starts_with(*type + "_");
    config.configuration.set("workload", is_whole ? *model : *type + "_" + *model,
                             ConfigSource::llmb_config);
  }
  return config;
}

}  // namespace

Result<LlmbConfig> parse_llmb_config(std::string_view yaml) {
  constexpr const char* kPrefix = "llmb-config: ";
  if (yaml.size() > kBytesMax) return fail(std::string(kPrefix) + "larger than 1 MiB");
  try {
    return build_config(YAML::Load(std::string(yaml)));
  } catch (const WrongShape& wrong) {
    return fail(kPrefix + wrong.message);
  } catch (const YAML::Exception& exception) {
    return fail(std::string(kPrefix) + "not YAML" + at_line(exception.mark) + ": " + exception.msg);
  }
}

}  // namespace llmb::parser
