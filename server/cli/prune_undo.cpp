#include "server/cli/prune_undo.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "parser/foundation/grouped_number.h"
#include "server/cli/complaint.h"
#include "server/cli/exit_codes.h"
#include "server/cli/job_desk.h"
#include "server/cli/known_cluster.h"
#include "server/cli/known_tree.h"
#include "server/dispatch/text_check.h"
#include "server/dispatch/wall_clock.h"
#include "server/report/progress_line.h"
#include "server/report/text_table.h"
#include "storage/database_place.h"

namespace llmb::cli {
namespace {

// What one transaction lets in, so that whoever else writes waits for no more.
constexpr std::size_t kLetInAtOnce = 1'000;

constexpr std::size_t kTreesNamed = 5;

constexpr const char* kWhatComesBack =
    "Only logs that still lie there come back, as they lie there now: what is gone from its tree "
    "stays away, and nothing of the runs themselves is kept. A daemon whose 'retention' names them "
    "removes them again within a day.\n";

std::string counted_logs(std::int64_t count) {
  return fmt::format("{} {}", parser::grouped(count), count == 1 ? "log" : "logs");
}

std::string day_of(const std::string& instant) {
  return instant.substr(0, 10);
}

// Prints what there is of each cluster and year, and returns how many logs that is.
std::int64_t show_undo_plan(const storage::UndoPlan& plan) {
  report::TextTable table({"cluster", "launched in", "removed from", "to", ">logs", ">steps then"});
  std::int64_t logs = 0;
  std::int64_t steps = 0;
  for (const storage::UndoGroup& group : plan.groups) {
    table.add({group.cluster.empty() ? "-" : group.cluster, group.year.empty() ? "-" : group.year,
               day_of(group.first_removed_at), day_of(group.last_removed_at),
               parser::grouped(group.logs), parser::grouped(group.steps)});
    logs += group.logs;
    steps += group.steps;
  }
  if (plan.groups.size() > 1) {
    table.add({"all", "", "", "", parser::grouped(logs), parser::grouped(steps)});
  }
  if (!plan.groups.empty()) table.print(std::cout);
  std::cout.flush();
  return logs;
}

std::string tree_options(const std::set<std::string>& trees) {
  std::string options;
  std::size_t named = 0;
  for (const std::string& tree : trees) {
    if (named == kTreesNamed) return fmt::format("{}, or {} more", options, trees.size() - named);
    options += fmt::format("{}--root {}", named == 0 ? "" : ", or ", dispatch::shell_quoted(tree));
    ++named;
  }
  return options;
}

bool names_clusters(storage::Reader& reader) {
  const auto roots = reader.roots();
  return std::any_of(roots.begin(), roots.end(),
                     [](const storage::RootRecord& root) { return !root.cluster.empty(); });
}

void tell_what_is_unknown(const storage::UndoPlan& plan) {
  if (plan.of_unknown_cluster > 0) {
    std::cerr << fmt::format(
        "{} more are of trees that name no cluster: what is kept of a removed log does not say the "
        "cluster that its run named, so they stay removed. Instead of --cluster, this takes them: "
        "{}\n",
        parser::grouped(plan.of_unknown_cluster), tree_options(plan.trees_of_unknown_cluster));
  }
  if (plan.of_unknown_launch > 0) {
    std::cerr << fmt::format(
        "{} more may be as old: what is kept of a removed log is its path, and theirs do not say "
        "when they were launched, so they stay removed. --removed-since takes them.\n",
        parser::grouped(plan.of_unknown_launch));
  }
}

void let_in(storage::Writer& writer, std::span<const storage::RunId> removed) {
  report::ProgressLine progress(removed.size(), "removals taken back");
  while (!removed.empty()) {
    const auto some = removed.first(std::min(removed.size(), kLetInAtOnce));
    writer.let_in_again(some);
    progress.add_done(some.size());
    removed = removed.subspan(some.size());
  }
}

void tell_how_they_come(const storage::UndoPlan& plan, std::int64_t logs,
                        const std::string& database) {
  const bool is_file = !storage::admits_several_writers(database);
  std::cerr << fmt::format("Let {} in again.\n", counted_logs(logs));
  if (plan.pushed_logs < logs) {
    std::cerr << (is_file ? "What lies in a tree is read by the next `llmb-report ingest` of it, "
                            "or once its daemon is started.\n"
                          : "What lies in a tree is read by the next `llmb-report ingest` of it; a "
                            "daemon that watches it begins it anew by itself.\n");
  }
  if (plan.pushed_logs > 0) {
    std::cerr << fmt::format("{} came from agents, which send them again {}.\n",
                             plan.pushed_logs == logs ? "All" : counted_logs(plan.pushed_logs),
                             is_file ? "once the server is started, or with their next run"
                                     : "as soon as they speak with a server");
  }
  std::cerr << kWhatComesBack;
}

}  // namespace

int undo_prune(const storage::OpenOptions& database, const UndoArguments& arguments) {
  auto filter = undo_filter_of(arguments.filters, arguments.removed_since, dispatch::wall_now());
  if (!filter) {
    return complain("prune", filter.error().message + "; see llmb-report prune --help",
                    kBadArguments);
  }
  std::unique_ptr<storage::Writer> writer;
  if (arguments.is_meant) {
    require_made(database);
    writer = std::make_unique<storage::Writer>(database);
  }
  storage::Reader reader(database.path);
  if (filter->root) filter->root = known_tree(reader, *filter->root);
  const storage::UndoPlan plan = reader.undo_plan(*filter);
  const bool may_be_of_runs = plan.of_unknown_cluster > 0 && !names_clusters(reader);
  if (filter->cluster && plan.removed.empty() && !may_be_of_runs) {
    require_known_cluster(reader, *filter->cluster, "tree of a cluster");
  }
  const std::int64_t logs = show_undo_plan(plan);
  tell_what_is_unknown(plan);
  if (plan.removed.empty()) {
    if (may_be_of_runs) {
      return complain(
          "prune", "nothing was let in: no tree is known to be of the cluster " + *filter->cluster,
          kFailed);
    }
    std::cerr << "Nothing to let in again: no removed log is known to fit.\n";
    return 0;
  }
  if (!arguments.is_meant) {
    std::cerr << fmt::format("Nothing was let in. To let {} in again, add --yes.\n{}",
                             counted_logs(logs), kWhatComesBack);
    return 0;
  }
  let_in(*writer, plan.removed);
  tell_how_they_come(plan, logs, database.path);
  return 0;
}

}  // namespace llmb::cli
