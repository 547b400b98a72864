// The section `cluster` of a configuration file: where jobs go, and who may send them there.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/configuration_reader.h"
#include "server/dispatch/cluster_settings.h"

namespace llmb::cli {

struct ClusterSection {
  dispatch::ClusterSettings settings;
  // Names of tokens that may submit over HTTP. Nobody: only the command line submits, and the
  // daemon follows those jobs.
  std::vector<std::string> submitters;
};

// Throws BadConfiguration.
ClusterSection read_cluster_section(const ConfigurationReader& reader, const YAML::Node& node);

// What the section leaves open, from the environment of the recipes (LLMB_INSTALL, LLMB_REPO,
// LLMB_WORKLOAD or STAGE_PATH, SBATCH_*, ADDITIONAL_SLURM_PARAMS, SLURM_CONF), from an
// installation's cluster_config.yaml, and the runner beside this program; then checked. Where only
// LLMB_INSTALL is set, the folder for runs is the installation's of `workloads`, which are to be
// submitted: of one, since jobs of several would lie in one folder.
parser::Result<void> complete_cluster(dispatch::ClusterSettings& settings,
                                      const std::set<std::string>& workloads = {});

extern const std::string_view kClusterHelp;

}  // namespace llmb::cli
