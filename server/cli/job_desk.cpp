#include "server/cli/job_desk.h"

#include <CLI/CLI.hpp>

#include <iostream>

#include "server/cli/serve_settings.h"
#include "server/cli/watched_trees.h"
#include "server/report/text_table.h"

namespace llmb::cli {

void add_desk_options(CLI::App& command, DeskArguments& arguments) {
  command
      .add_option("--config", arguments.configuration_file,
                  "Configuration file of `serve`, for its cluster and its database")
      ->type_name("FILE");
  command
      .add_option("--db", arguments.database,
                  "The database, a file or a URL (default: the configuration's, else that of "
                  "`serve`)")
      ->type_name("FILE|URL");
  command
      .add_option("--cluster", arguments.cluster,
                  "Name of the cluster, where no configuration names it (default: default)")
      ->type_name("NAME");
  command.add_flag("--allow-network-file-system", arguments.allow_network_file_system,
                   "Keep the database on a file system that is not known to be local");
}

DeskSettings desk_settings(const DeskArguments& arguments, bool submits) {
  ServeSettings configured;
  if (!arguments.configuration_file.empty()) {
    configured = read_serve_configuration(arguments.configuration_file);
  }
  DeskSettings desk;
  if (configured.cluster) desk.cluster = configured.cluster->settings;
  if (!arguments.cluster.empty()) {
    if (configured.cluster && desk.cluster.name != arguments.cluster) {
      throw BadConfiguration("--cluster " + arguments.cluster + " is not the cluster of " +
                             arguments.configuration_file + ", which is " + desk.cluster.name);
    }
    desk.cluster.name = arguments.cluster;
  }
  if (desk.cluster.name.empty()) desk.cluster.name = "default";
  const bool had_folder = !desk.cluster.workload_folder.empty();
  auto completed = complete_cluster(desk.cluster);
  if (!completed && !submits && !had_folder && desk.cluster.workload_folder.empty()) {
    desk.cluster.workload_folder = "/";  // nothing is written there without a submission
    completed = complete_cluster(desk.cluster);
  }
  if (!completed) throw BadConfiguration(completed.error().message);
  desk.cluster.takes_any_container = submits;
  desk.database.path = !arguments.database.empty() ? arguments.database
                       : configured.database       ? *configured.database
                                                   : default_database_path();
  desk.database.allow_network_file_system =
      arguments.allow_network_file_system || configured.allow_network_file_system.value_or(false);
  return desk;
}

JobDesk open_job_desk(const DeskArguments& arguments, bool submits) {
  DeskSettings settings = desk_settings(arguments, submits);
  return {std::move(settings.cluster), std::make_unique<storage::JobStore>(settings.database)};
}

int run_at_desk(const std::string& command, const std::function<int()>& action) {
  try {
    return action();
  } catch (const BadConfiguration& error) {
    std::cerr << "llmb-report " << command << ": " << report::printable(error.what()) << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "llmb-report " << command << ": " << report::printable(error.what()) << '\n';
    return 1;
  }
}

}  // namespace llmb::cli
