// JobDesk: what `submit`, `jobs` and `token` work on: the cluster of a configuration or of the
// environment, and the database of jobs.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "storage/job_store.h"

namespace CLI {
class App;
}

namespace llmb::cli {

struct DeskArguments {
  std::string configuration_file;
  std::string database;
  std::string cluster;
  bool allow_network_file_system = false;
  std::set<std::string> workloads;  // which are to be submitted; see complete_cluster()
};

void add_desk_options(CLI::App& command, DeskArguments& arguments);

struct DeskSettings {
  dispatch::ClusterSettings cluster;
  storage::OpenOptions database;
  bool is_default_place = false;  // nobody named the database: its folder may be yet to be made
};

// The cluster that jobs are to be submitted to, for what needs no database. Throws
// BadConfiguration.
dispatch::ClusterSettings submitting_cluster(const DeskArguments& arguments);

// `submits`: a folder for runs has to be known. Throws BadConfiguration.
DeskSettings desk_settings(const DeskArguments& arguments, bool submits);

struct JobDesk {
  dispatch::ClusterSettings settings;
  std::unique_ptr<storage::JobStore> store;
  storage::OpenOptions database = {};
  std::string read_only_for = {};  // why it can only be looked at; empty: it can be written
};

// All throw BadConfiguration and storage::StorageError. The first creates the database where there
// is none, which the others refuse.
JobDesk open_job_desk(const DeskArguments& arguments, bool submits);
JobDesk open_existing_desk(const DeskArguments& arguments);
// Of who may not write the database a desk that only reads.
JobDesk open_desk_to_look(const DeskArguments& arguments);

// Throws storage::StorageError where opening a database to write it would make it.
void require_made(const storage::OpenOptions& database);

// Calls `action`; what it throws becomes a line on stderr and an exit code: 2 for a bad
// configuration, 1 for the rest.
int run_at_desk(const std::string& command, const std::function<int()>& action);

}  // namespace llmb::cli
