#include "server/cli/job_desk.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "server/cli/serve_settings.h"
#include "server/cli/watched_trees.h"
#include "server/report/text_table.h"
#include "storage/database_place.h"

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

namespace {

ServeSettings configured_settings(const DeskArguments& arguments) {
  if (arguments.configuration_file.empty()) return {};
  return read_serve_configuration(arguments.configuration_file);
}

dispatch::ClusterSettings cluster_of(const ServeSettings& configured,
                                     const DeskArguments& arguments, bool submits) {
  dispatch::ClusterSettings cluster;
  if (configured.cluster) cluster = configured.cluster->settings;
  if (!arguments.cluster.empty()) {
    if (configured.cluster && cluster.name != arguments.cluster) {
      throw BadConfiguration("--cluster " + arguments.cluster + " is not the cluster of " +
                             arguments.configuration_file + ", which is " + cluster.name);
    }
    cluster.name = arguments.cluster;
  }
  if (cluster.name.empty()) cluster.name = "default";
  const bool had_folder = !cluster.workload_folder.empty();
  auto completed = complete_cluster(cluster, arguments.workloads);
  if (!completed && !submits && !had_folder && cluster.workload_folder.empty()) {
    cluster.workload_folder = "/";  // nothing is written there without a submission
    completed = complete_cluster(cluster);
  }
  if (!completed) throw BadConfiguration(completed.error().message);
  cluster.takes_any_container = submits;
  return cluster;
}

}  // namespace

dispatch::ClusterSettings submitting_cluster(const DeskArguments& arguments) {
  return cluster_of(configured_settings(arguments), arguments, true);
}

DeskSettings desk_settings(const DeskArguments& arguments, bool submits) {
  const ServeSettings configured = configured_settings(arguments);
  DeskSettings desk;
  desk.cluster = cluster_of(configured, arguments, submits);
  desk.is_default_place = arguments.database.empty() && !configured.database;
  desk.database.path = !arguments.database.empty() ? arguments.database
                       : configured.database       ? *configured.database
                                                   : default_database_path();
  desk.database.allow_network_file_system =
      arguments.allow_network_file_system || configured.allow_network_file_system.value_or(false);
  return desk;
}

void require_made(const storage::OpenOptions& database) {
  std::error_code error;
  const bool is_made = !storage::is_postgresql(database.path) &&
                       std::filesystem::file_size(database.path, error) > 0 && !error;
  if (!is_made) storage::JobStore(database, storage::JobAccess::read);  // says what is not there
}

namespace {

JobDesk open_to_write(DeskSettings settings) {
  if (settings.is_default_place) made_default_database_path();
  auto store = std::make_unique<storage::JobStore>(settings.database);
  return {std::move(settings.cluster), std::move(store), std::move(settings.database)};
}

JobDesk open_to_read(DeskSettings settings, std::string why) {
  auto store = std::make_unique<storage::JobStore>(settings.database, storage::JobAccess::read);
  return {std::move(settings.cluster), std::move(store), std::move(settings.database),
          std::move(why)};
}

}  // namespace

JobDesk open_job_desk(const DeskArguments& arguments, bool submits) {
  return open_to_write(desk_settings(arguments, submits));
}

JobDesk open_existing_desk(const DeskArguments& arguments) {
  DeskSettings settings = desk_settings(arguments, false);
  require_made(settings.database);
  return open_to_write(std::move(settings));
}

// A lock file of who may write beside a database of another user, and not in it, would keep that
// user out: nothing is tried there.
JobDesk open_desk_to_look(const DeskArguments& arguments) {
  DeskSettings settings = desk_settings(arguments, false);
  const storage::OpenOptions& database = settings.database;
  require_made(database);
  if (!storage::is_postgresql(database.path) &&
      faccessat(AT_FDCWD, database.path.c_str(), W_OK, AT_EACCESS) != 0) {
    const std::string why = "cannot write " + database.path + ": " + std::strerror(errno);
    return open_to_read(std::move(settings), why);
  }
  try {
    return open_to_write(settings);
  } catch (const storage::StorageError& refusal) {
    if (refusal.kind != storage::StorageError::Kind::io) throw;
    return open_to_read(std::move(settings), refusal.what());
  }
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
