#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "parser/foundation/grouped_number.h"
#include "server/cli/commands.h"
#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_desk.h"
#include "server/cli/known_cluster.h"
#include "server/cli/known_tree.h"
#include "server/cli/prune_undo.h"
#include "server/cli/retention_filters.h"
#include "server/cli/watched_trees.h"
#include "server/dispatch/wall_clock.h"
#include "server/report/progress_line.h"
#include "server/report/text_table.h"
#include "storage/database_place.h"
#include "storage/removal.h"
#include "storage/root_claim.h"

namespace llmb::cli {
namespace {

constexpr const char* kPruneFooter = R"(Examples:
  llmb-report prune --older-than 400d                  # what would go; nothing is removed
  llmb-report prune --older-than 400d --yes            # and now it goes
  llmb-report prune --cluster eos --older-than 2y --yes
  llmb-report prune --gone --older-than 30d --yes      # runs whose logs are there no more
  llmb-report prune --log-text --older-than 90d --yes  # only the text of pushed logs
  llmb-report prune --undo --cluster eos --removed-since 2d --yes  # back with what went since then
  llmb-report prune --root /lustre/old/workloads --yes # a tree, and where nothing is stored of
                                                       # it (it was mistyped) its name
  llmb-report prune --root /lustre/old/workloads --gone --yes   # its name, where its folder is gone

A run goes that fits all of the filters: with its steps, results and text, and with the older
generations of its log. Ages count from when the log grew last. What is running, and grew within a
day, stays. Logs themselves are not touched.

What was removed does not come again while its log stands as it was: ingest passes over it, and
agents are told that the server has it. A log that grows or changes afterwards is read as a whole.

--undo lets such logs in again. What still lies in a tree is read by the next ingest, or once its
daemon is started (over PostgreSQL it begins the tree anew by itself); agents send what their
databases have once they have compared with the server. What is gone stays away, as does a text that
was removed by --log-text. Runs come with new ids. Kept of a removed log are its tree, its path and
when it was removed: so --cluster is the tree's, --older-than counts from the launch where the path
says it, and --gone and --log-text are refused. A daemon whose 'retention' names these logs removes
them again within a day: change that first.

A file has one writer: while a daemon has it, let that do the same every day, by 'retention'
in its configuration (llmb-report serve --help), or stop it for as long as this takes. However this
ends, the same command goes on with what is left.

Exit codes: 0 done, or shown; 1 failed; 2 wrong arguments.
)";

struct PruneArguments {
  storage::OpenOptions database;
  RetentionFilters filters;
  bool is_meant = false;
  bool is_undo = false;
  std::string removed_since;
};

std::string mebibytes(std::uint64_t bytes) {
  return report::fixed(static_cast<double>(bytes) / (1 << 20), 1) + " MiB";
}

// Prints what there is of each cluster and year, and returns the sums.
storage::RemovalCount show_plan(const storage::RemovalPlan& plan) {
  report::TextTable table({"cluster", "grew last in", ">runs", ">steps", ">text of logs"});
  storage::RemovalCount all;
  const auto add = [&](const std::string& cluster, const std::string& year,
                       const storage::RemovalCount& count) {
    table.add({cluster, year, parser::grouped(count.runs), parser::grouped(count.steps),
               mebibytes(count.log_text_bytes)});
  };
  for (const storage::RemovalGroup& group : plan.groups) {
    add(group.cluster.empty() ? "-" : group.cluster, group.year, group.count);
    all += group.count;
  }
  if (plan.groups.size() > 1) add("all", "", all);
  if (!plan.groups.empty()) table.print(std::cout);
  std::cout.flush();
  return all;
}

// Runs name clusters that no tree has.
void find_cluster(storage::Reader& reader, const storage::RetentionPolicy& policy,
                  parser::Instant now) {
  if (!policy.cluster) return;
  std::set<std::string> of_runs;
  const storage::RemovalPlan everything = reader.removal_plan({}, now);
  for (const storage::RemovalGroup& group : everything.groups) of_runs.insert(group.cluster);
  require_known_cluster(reader, *policy.cluster, "runs of a cluster", " that may go",
                        std::move(of_runs));
}

std::string with_advice(const storage::StorageError& error, bool is_undo) {
  if (error.kind != storage::StorageError::Kind::busy_elsewhere) return error.what();
  const std::string_view advice =
      is_undo
          ? "Stop the daemon for as long as this takes. What was not let in yet stays removed."
          : "A daemon that has it removes runs by itself: give it the same filters as 'retention' "
            "in its configuration (llmb-report serve --help). Nothing was removed here.";
  return fmt::format("{} {}", error.what(), advice);
}

storage::RemovalCount remove(storage::Writer& writer, const storage::RemovalPlan& plan,
                             const storage::RetentionPolicy& policy, parser::Instant now) {
  storage::Removal removal(plan);
  storage::RemovalCount done;
  report::ProgressLine progress(removal.log_count(), "logs removed");
  for (auto logs = removal.next(); !logs.empty(); logs = removal.next()) {
    done += writer.remove_logs(policy, logs, now);
    progress.add_done(logs.size());
  }
  return done;
}

// What cannot be looked at is there.
bool is_there(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(folder, error) || error;
}

bool has_removed_logs(storage::Reader& reader, storage::RootId root) {
  const auto removed = reader.removed_logs();
  return std::any_of(removed.begin(), removed.end(),
                     [&](const auto& log) { return log.root_id == root; });
}

// A watched tree of which no run is stored.
std::optional<storage::RootRecord> empty_root(storage::Reader& reader, const std::string& path) {
  for (storage::RootRecord& root : reader.roots()) {
    if (root.path != path || !root.pushed_from.empty()) continue;
    storage::RunFilter filter;
    filter.root_id = {root.id};
    filter.include_superseded = true;
    if (reader.run_count(filter) == 0) return std::move(root);
  }
  return std::nullopt;
}

// Of a tree that was mistyped, or never came: nothing of it can be removed but its name. What was
// removed of a tree stays away by marks that go with its name: those go only where its folder is
// gone and --gone says that this is meant, for it may be a mount that comes back.
bool may_be_forgotten(storage::Reader& reader, const storage::RootRecord& root,
                      bool is_gone_meant) {
  return is_gone_meant ? !is_there(root.path) : !has_removed_logs(reader, root.id);
}

// Over PostgreSQL a daemon may follow the tree meanwhile, and would go on with what is gone.
int forget_root(const storage::OpenOptions& database, const std::string& root, bool is_meant,
                std::unique_ptr<storage::Writer> writer) {
  if (!is_meant) {
    std::cerr << fmt::format("No run is stored of {}. To forget the tree, add --yes.\n", root);
    return 0;
  }
  if (storage::admits_several_writers(database.path)) {
    writer = std::make_unique<storage::Writer>(database, storage::RootClaim{root, {}});
    if (writer->claim_root() != storage::ClaimOutcome::taken) {
      return complain("prune", "another process follows " + root + "; end it first", kFailed);
    }
  }
  if (!writer->forget_root(root)) {
    return complain("prune", "something is stored of " + root + " by now; ask again", kFailed);
  }
  std::cerr << fmt::format("Forgot the tree {}, of which no run was stored.\n", root);
  return 0;
}

// Where no run fits.
int tell_nothing_or_forget(storage::Reader& reader, const storage::RetentionPolicy& policy,
                           const PruneArguments& arguments,
                           std::unique_ptr<storage::Writer> writer) {
  const bool asks_for_all =
      policy.root && !policy.cluster && !policy.grown_before && !policy.only_log_text;
  const auto root = asks_for_all ? empty_root(reader, *policy.root) : std::nullopt;
  if (root && may_be_forgotten(reader, *root, policy.only_gone)) {
    return forget_root(arguments.database, root->path, arguments.is_meant, std::move(writer));
  }
  std::cerr << fmt::format("Nothing to remove: no run fits '{}'.\n", policy.words);
  if (root && !is_there(root->path)) {
    std::cerr << fmt::format(
        "Its folder is not there. To forget the tree, and what was removed of it: llmb-report "
        "prune --root {} --gone --yes\n",
        root->path);
  }
  return 0;
}

int run_prune(const PruneArguments& arguments) {
  const auto began = std::chrono::steady_clock::now();
  const parser::Instant now = dispatch::wall_now();
  auto policy = policy_of(arguments.filters, now);
  if (!policy) {
    return complain("prune", policy.error().message + "; see llmb-report prune --help",
                    kBadArguments);
  }
  // Before anything is planned, so that nobody changes what was shown.
  std::unique_ptr<storage::Writer> writer;
  if (arguments.is_meant) {
    require_made(arguments.database);
    writer = std::make_unique<storage::Writer>(arguments.database);
  }
  storage::Reader reader(arguments.database.path);
  if (policy->root) policy->root = known_tree(reader, *policy->root);
  const storage::RemovalPlan plan = reader.removal_plan(*policy, now);
  const storage::RemovalCount all = show_plan(plan);
  const auto runs = [&](std::int64_t count) {
    const std::string counted =
        fmt::format("{} {}", parser::grouped(count), count == 1 ? "run" : "runs");
    return policy->only_log_text ? "the text of the logs of " + counted : counted;
  };
  if (plan.still_active > 0) {
    std::cerr << fmt::format("{} more are running, and stay.\n",
                             parser::grouped(plan.still_active));
  }
  if (plan.logs.empty()) {
    if (plan.still_active == 0) find_cluster(reader, *policy, now);
    return tell_nothing_or_forget(reader, *policy, arguments, std::move(writer));
  }
  if (!arguments.is_meant) {
    std::cerr << fmt::format("Nothing was removed. To remove {}, add --yes.\n", runs(all.runs));
    return 0;
  }
  const storage::RemovalCount done = remove(*writer, plan, *policy, now);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cerr << fmt::format(
      "Removed {} in {:.1f} s. The room that they had in {} is used again; a file does not get "
      "smaller by itself.\n",
      runs(done.runs), took.count(), storage::shown_place(arguments.database.path));
  return 0;
}

int prune(PruneArguments arguments) {
  if (arguments.database.path.empty()) arguments.database.path = default_database_path();
  if (arguments.is_undo) {
    return undo_prune(arguments.database,
                      {arguments.filters, arguments.removed_since, arguments.is_meant});
  }
  if (arguments.removed_since.empty()) return run_prune(arguments);
  return complain("prune", "--removed-since is of --undo: see llmb-report prune --help",
                  kBadArguments);
}

}  // namespace

void add_prune_command(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<PruneArguments>();
  CLI::App* const command =
      app.add_subcommand("prune", "Remove old runs from a database; shows first what would go");
  command
      ->add_option("--db", arguments->database.path,
                   "The database: a file, or postgresql://… (default: as serve's)")
      ->type_name("FILE|URL");
  RetentionFilters& filters = arguments->filters;
  command
      ->add_option("--older-than", filters.older_than,
                   "Runs whose logs grew last so long ago (400d, 8w, 2y), or before a day "
                   "(2025-01-31)")
      ->type_name("AGE|DATE");
  command->add_option("--cluster", filters.cluster, "Runs that name this cluster themselves")
      ->type_name("NAME");
  command->add_option("--root", filters.root, "Runs of this tree")->type_name("DIR");
  command->add_flag("--gone", filters.gone, "Runs whose logs are there no more");
  command->add_flag("--log-text", filters.log_text,
                    "Remove only the text of pushed logs (ingest --push-logs); runs, steps and "
                    "results stay");
  command->add_flag("--undo", arguments->is_undo,
                    "Let logs in again whose runs were removed, so that they are read anew, or "
                    "sent again");
  command
      ->add_option("--removed-since", arguments->removed_since,
                   "With --undo: those that were removed since so long (1d, 8w), or since a day")
      ->type_name("AGE|DATE");
  command->add_flag("--yes", arguments->is_meant, "Do it; without this it is only shown");
  command->add_flag("--allow-network-file-system", arguments->database.allow_network_file_system,
                    "Write a file on a network file system, where it may be damaged");
  command->footer(kPruneFooter);
  command->callback([arguments, &exit_code] {
    try {
      exit_code = prune(*arguments);
    } catch (const CLI::ValidationError& error) {
      exit_code = complain("prune", error.what(), kBadArguments);
    } catch (const storage::StorageError& error) {
      exit_code = complain("prune", with_advice(error, arguments->is_undo), kFailed);
    }
  });
}

}  // namespace llmb::cli
