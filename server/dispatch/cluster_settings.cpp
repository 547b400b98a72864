#include "server/dispatch/cluster_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/dispatch/file_call.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1024} * 1024;

std::string scalar(const YAML::Node& map, const char* key) {
  if (!map.IsMap()) return {};
  const YAML::Node value = map[key];
  if (!value.IsDefined() || !value.IsScalar() || value.Scalar() == "null") return {};
  return value.Scalar();
}

YAML::Node section(const YAML::Node& map, const char* key) {
  return map.IsMap() && map[key].IsDefined() ? map[key] : YAML::Node();
}

void take_if_unset(std::string& into, const std::string& from) {
  if (into.empty()) into = from;
}

parser::Result<void> check_path(const std::string& path, const char* what) {
  if (path.empty() || is_plain_path(path)) return {};
  return parser::fail(std::string(what) + " " + in_quotes(path) +
                      " has to be an absolute path of printable characters, without '%', '\\' and "
                      "'..'");
}

// Empty where there is no such file, or a larger one than such a file can be.
parser::Result<std::string> settings_text(const std::string& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  if (error || bytes > kFileBytesMax) return std::string();
  std::ifstream input(file, std::ios::binary);
  std::ostringstream text;
  text << input.rdbuf();
  return text.str();
}

parser::Result<void> check_containers(const ClusterSettings& settings) {
  for (const std::string& image : settings.container_images) {
    if (is_container_image(image)) continue;
    return parser::fail("'container_images' has " + in_quotes(image) +
                        ", which is neither a name such as nvcr.io#nvidia/nemo:25.04 nor the "
                        "absolute path of a squashfs file");
  }
  for (const std::string& mount : settings.container_mounts) {
    if (is_container_mount(mount)) continue;
    return parser::fail("'container_mounts' has " + in_quotes(mount) +
                        ", which is no mount such as /from:/to or /from:/to:ro");
  }
  return {};
}

parser::Result<void> check_environment(const ClusterSettings& settings) {
  for (const auto& [name, value] : settings.environment) {
    if (!is_variable_name(name) || !is_printable(value)) {
      return parser::fail("the environment variable " + in_quotes(name) + " with the value " +
                          in_quotes(value) + " is not one that a job could have");
    }
  }
  for (const std::string& name : settings.environment_allowed) {
    if (!is_variable_name(name)) {
      return parser::fail("'environment_allowed' has " + in_quotes(name) +
                          ", which is no name of a variable");
    }
  }
  return {};
}

}  // namespace

parser::Result<void> apply_llmb_cluster_config(ClusterSettings& settings, const std::string& yaml) {
  try {
    const YAML::Node document = YAML::Load(yaml);
    if (!document.IsMap()) return parser::fail("cluster_config.yaml is no list of sections");
    const YAML::Node launcher = section(document, "launcher");
    take_if_unset(settings.llmb_repo, scalar(launcher, "llmb_repo"));
    take_if_unset(settings.llmb_install, scalar(launcher, "llmb_install"));
    take_if_unset(settings.gpu_type, scalar(launcher, "gpu_type"));
    const YAML::Node slurm = section(document, "slurm");
    const YAML::Node gpu = section(slurm, "gpu");  // the newer form: slurm.gpu.partition, .gres
    SlurmParameters found;
    const auto add = [&](const char* name, std::string value,
                         const std::string& newer) -> parser::Result<void> {
      take_if_unset(value, newer);
      if (value.empty()) return {};
      return add_slurm_parameter(found, name, value, "cluster_config.yaml");
    };
    if (auto added = add("account", scalar(slurm, "account"), ""); !added) return added;
    if (auto added = add("partition", scalar(slurm, "gpu_partition"), scalar(gpu, "partition"));
        !added) {
      return added;
    }
    if (auto added = add("gpus-per-node", scalar(slurm, "gpu_partition_gres"), scalar(gpu, "gres"));
        !added) {
      return added;
    }
    for (const auto& [name, unused] : found) {
      if (!settings.slurm.contains(name)) {
        settings.slurm_origins[name] = settings.llmb_install + "/cluster_config.yaml";
      }
    }
    fill_missing(settings.slurm, found);
    return {};
  } catch (const YAML::Exception& error) {
    return parser::fail("cluster_config.yaml is not valid YAML: " + std::string(error.what()));
  }
}

parser::Result<std::string> installed_workload_folder(const std::string& llmb_install,
                                                      const std::string& workload) {
  constexpr std::string_view kPrefix = "pretrain_";
  std::vector<std::string> folders = {llmb_install + "/workloads/" + workload};
  if (workload.starts_with(kPrefix)) {
    folders.push_back(llmb_install + "/workloads/pretraining_" + workload.substr(kPrefix.size()));
  }
  const auto look = [folders]() -> parser::Result<std::string> {
    std::error_code error;
    for (const std::string& folder : folders) {
      if (std::filesystem::is_directory(folder, error)) return folder;
    }
    return parser::fail(fmt::format(
        "nothing names a folder for runs but LLMB_INSTALL, and there is no {}: set LLMB_WORKLOAD, "
        "or 'workload_folder' in the configuration",
        fmt::join(folders, " and no ")));
  };
  return ask_file_system<std::string>(llmb_install, look);
}

parser::Result<void> complete_settings(ClusterSettings& settings) {
  if (!is_name(settings.name)) {
    return parser::fail("a cluster's name has letters, digits, '.', '_', '-' and '+'; not " +
                        in_quotes(settings.name));
  }
  if (!settings.llmb_install.empty()) {
    const std::string file = settings.llmb_install + "/cluster_config.yaml";
    const auto text = ask_file_system<std::string>(file, [file] { return settings_text(file); });
    if (!text) return tl::unexpected(text.error());
    if (!text->empty()) {
      if (auto applied = apply_llmb_cluster_config(settings, *text); !applied) {
        return parser::fail(fmt::format("{}: {}", file, applied.error().message));
      }
    }
  }
  for (const auto& [path, what] : {std::pair(settings.workload_folder, "the folder for runs"),
                                   std::pair(settings.llmb_install, "the LLMB installation"),
                                   std::pair(settings.llmb_repo, "the LLMB repository"),
                                   std::pair(settings.slurm_conf, "slurm_conf")}) {
    if (auto checked = check_path(path, what); !checked) return checked;
  }
  if (settings.workload_folder.empty()) {
    return parser::fail("the cluster " + settings.name +
                        " needs a folder for its runs: 'workload_folder', or LLMB_WORKLOAD (to "
                        "submit, LLMB_INSTALL does)");
  }
  if (!is_name(settings.runner) && !is_plain_path(settings.runner)) {
    return parser::fail("the runner " + in_quotes(settings.runner) +
                        " is neither an absolute path nor the name of a program");
  }
  for (const auto& [workload, script] : settings.launch_scripts) {
    if (auto checked = check_path(script, "the launch.sh"); !checked) return checked;
    if (script.empty()) return parser::fail("the launch.sh of " + workload + " has no path");
  }
  for (const auto& [workload, venv] : settings.venvs) {
    if (auto checked = check_path(venv, "the virtual environment"); !checked) return checked;
  }
  for (const std::string& bind : {settings.cpu_bind, settings.mem_bind}) {
    if (is_printable(bind)) continue;
    return parser::fail("srun takes no binding " + in_quotes(bind));
  }
  if (auto checked = check_containers(settings); !checked) return checked;
  return check_environment(settings);
}

}  // namespace llmb::dispatch
