#include "parser/layout/run_path.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

#include "parser/foundation/parse_number.h"
#include "parser/foundation/text.h"
#include "parser/layout/experiment_name.h"
#include "parser/layout/log_name.h"
#include "parser/layout/name_tokens.h"
#include "parser/layout/results_tree.h"

namespace llmb::parser {
namespace {

using Parts = std::vector<std::string_view>;

// What the folders of the experiments tree say; empty where they say nothing.
struct LaunchFolder {
  std::string_view experiment;
  std::string_view timestamp;
  std::string launch_id;
  std::string_view task;  // the folder of the job below the launch
};

std::string format_utc(std::string_view timestamp) {
  const auto seconds = parse_digits(timestamp.substr(0, 10)).value_or(0);
  const std::chrono::sys_seconds instant{std::chrono::seconds{seconds}};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{instant - day};
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  return text.data();
}

// The deepest folder <name>_<timestamp> (or <timestamp> below <name>) counts: launches can lie in
// any tree, and the watched root may be a launch's own parent.
LaunchFolder find_launch(const Parts& folders) {
  LaunchFolder launch;
  for (std::size_t i = folders.size(); i-- > 0;) {
    const std::string_view folder = folders[i];
    const std::size_t underscore = folder.rfind('_');
    if (underscore != std::string_view::npos && underscore > 0 &&
        is_timestamp(folder.substr(underscore + 1))) {
      launch.experiment = folder.substr(0, underscore);
      launch.timestamp = folder.substr(underscore + 1);
      launch.launch_id = folder;
    } else if (i > 0 && is_timestamp(folder) && !folders[i - 1].empty()) {
      launch.experiment = folders[i - 1];
      launch.timestamp = folder;
      launch.launch_id = std::string(folders[i - 1]) + "_" + std::string(folder);
    } else {
      continue;
    }
    if (i + 1 < folders.size()) launch.task = folders[i + 1];
    return launch;
  }
  return launch;
}

// The job's folder is the experiment's name, or that and _nsys or _nccltrace; the log is named
// after it. A root inside a launch leaves the log's own folder as the only witness.
std::string_view find_task(const LaunchFolder& launch, const Parts& folders,
                           std::string_view file_name) {
  if (!launch.experiment.empty()) {
    return launch.task.starts_with(launch.experiment) ? launch.task : launch.experiment;
  }
  const bool is_witness = !folders.empty() && folders.back().size() > 2 &&
                          file_name.find(folders.back()) != std::string_view::npos;
  return is_witness ? folders.back() : std::string_view{};
}

// Of a log that lies in the experiment's own folder, as Nemotron 4's document has it: the nearest
// folder whose name says a workload. What stands above the tree is of no experiment.
std::string_view find_experiment(const Parts& folders) {
  for (std::size_t i = folders.size(); i-- > 0;) {
    if (is_tree_folder(folders[i])) break;
    if (parse_experiment_name(folders[i]).value("workload")) return folders[i];
  }
  return {};
}

// $LLMB_INSTALL/workloads/<type>_<model>/…
void read_workload_folder(const Parts& folders, RunPath& path) {
  for (std::size_t i = 0; i + 1 < folders.size(); ++i) {
    if (folders[i] != "workloads") continue;
    const std::size_t underscore = folders[i + 1].find('_');
    if (underscore == std::string_view::npos) continue;
    const std::string type(workload_type(folders[i + 1].substr(0, underscore)));
    if (type.empty()) continue;
    path.configuration.set("workload", type + std::string(folders[i + 1].substr(underscore)),
                           ConfigSource::path);
  }
}

}  // namespace

bool is_tree_folder(std::string_view name) {
  return std::find(kTreeFolders.begin(), kTreeFolders.end(), name) != kTreeFolders.end();
}

std::string_view uncompressed_name(std::string_view name) {
  for (const std::string_view suffix : kCompressedSuffixes) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

FileRole classify_file(std::string_view relative_path) {
  const std::string_view name = relative_path.substr(relative_path.rfind('/') + 1);
  const bool is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
  if (name == "llmb-config.yaml" || (name.starts_with("llmb-config_") && is_yaml)) {
    return FileRole::llmb_config;
  }
  const std::string_view uncompressed = uncompressed_name(name);
  if (uncompressed.size() < name.size()) {
    const bool is_log = classify_file(uncompressed) == FileRole::training_log;
    return is_log ? FileRole::compressed_log : FileRole::other;
  }
  if (!name.ends_with(".out")) return FileRole::other;
  if (name.starts_with("sbatch_")) return FileRole::batch_script_output;
  if (name.starts_with("vboost")) return FileRole::voltage_boost_output;
  return FileRole::training_log;
}

RunPath parse_run_path(std::string_view relative_path) {
  RunPath path;
  Parts folders = split(uncompressed_name(relative_path), '/');
  const std::string_view file_name = folders.back();
  folders.pop_back();
  read_workload_folder(folders, path);

  const LaunchFolder launch = find_launch(folders);
  const bool is_results_tree =
      launch.experiment.empty() && read_results_folders(folders, path.configuration);
  const std::string_view task = find_task(launch, is_results_tree ? Parts{} : folders, file_name);
  const LogName log = parse_log_name(file_name, task);
  const bool is_results_log = is_results_tree && !log.account;
  const LogName named =
      is_results_log ? read_results_file_name(file_name, path.configuration) : log;
  path.experiment = named.name;
  path.account = named.account;
  path.job_id = named.job_id;
  path.retry = named.retry;
  if (!launch.experiment.empty()) {
    path.experiment = launch.experiment;
    path.launched_at = format_utc(launch.timestamp);
    path.launch_id = launch.launch_id;
  }
  path.configuration.merge(parse_experiment_name(path.experiment));
  if (!task.empty()) path.configuration.merge(parse_experiment_name(task));
  // Where the folder's name says nothing, the log's own may.
  if (!path.configuration.value("workload")) {
    path.configuration.merge(parse_experiment_name(log.name));
  }
  const bool is_named = path.configuration.value("model").has_value();
  if (is_named || is_results_tree || !launch.experiment.empty()) return path;
  if (const std::string_view experiment = find_experiment(folders); !experiment.empty()) {
    path.experiment = experiment;
    path.configuration.merge(parse_experiment_name(experiment));
  }
  return path;
}

}  // namespace llmb::parser
