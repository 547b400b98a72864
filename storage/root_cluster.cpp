#include "storage/root_cluster.h"

#include <optional>
#include <utility>
#include <vector>

#include "storage/settings_text.h"

namespace llmb::storage {
namespace {

struct Renaming {
  RunId run = 0;
  std::optional<std::string> cluster;
};

// Of the runs that are not called as their configuration has it.
std::vector<Renaming> renamings_of(Connection& connection, RootId root) {
  Statement& select = connection.kept(
      "SELECT run.id, run.cluster, coalesce(told.settings, '') FROM run"
      " LEFT JOIN run_settings AS told ON told.run_id = run.id WHERE run.root_id = ?");
  select.integer(root);
  std::vector<Renaming> renamings;
  while (select.step()) {
    const RunId run = select.read_integer();
    const std::optional<std::string> now = select.read_optional_text();
    auto wanted = read_settings_text(select.read_text()).value("cluster");
    if (wanted != now) renamings.push_back({run, std::move(wanted)});
  }
  return renamings;
}

}  // namespace

bool move_runs_to_cluster(Connection& connection, RootId root, const std::string& cluster) {
  if (!cluster.empty()) {
    connection
        .kept(
            "UPDATE run SET revision = revision + 1, cluster = ?1"
            " WHERE root_id = ?2 AND cluster IS DISTINCT FROM ?1")
        .text(cluster)
        .integer(root)
        .run();
    return connection.changes() > 0;
  }
  const std::vector<Renaming> renamings = renamings_of(connection, root);
  Statement& update =
      connection.kept("UPDATE run SET revision = revision + 1, cluster = ? WHERE id = ?");
  for (const Renaming& one : renamings) update.text(one.cluster).integer(one.run).run();
  return !renamings.empty();
}

}  // namespace llmb::storage
