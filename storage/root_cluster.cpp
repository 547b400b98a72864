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

void rename_pushed_roots(Connection& connection, const std::string& from, const std::string& to) {
  // Trees of both, of which nothing but what was removed is known as the new cluster's.
  static const std::string twins =
      "(SELECT b.id FROM root AS a JOIN root AS b ON b.path = a.path"
      " WHERE a.pushed_from = ?1 AND b.pushed_from = ?2)";
  static const std::string take_removed =
      "UPDATE removed_log SET root_id = (SELECT a.id FROM root AS a JOIN root AS b"
      " ON b.path = a.path WHERE a.pushed_from = ?1 AND b.id = removed_log.root_id)"
      " WHERE root_id IN " +
      twins;
  static const std::string forget_twins =
      "DELETE FROM root WHERE id IN " + twins +
      " AND NOT EXISTS (SELECT 1 FROM run WHERE run.root_id = root.id)";
  for (const std::string_view sql :
       {std::string_view(take_removed), std::string_view(forget_twins),
        std::string_view("UPDATE run SET cluster = ?2, revision = revision + 1 WHERE root_id IN"
                         " (SELECT id FROM root WHERE pushed_from = ?1)"),
        std::string_view("UPDATE root SET cluster = ?2, pushed_from = ?2 WHERE pushed_from = ?1"),
        std::string_view("UPDATE push_agent SET cluster = ?2 WHERE cluster = ?1")}) {
    connection.kept(sql).text(from).text(to).run();
  }
}

std::vector<std::string> trees_of_both_clusters(Connection& connection, const std::string& from,
                                                const std::string& to) {
  Statement& select = connection.kept(
      "SELECT a.path FROM root AS a JOIN root AS b ON b.path = a.path WHERE a.pushed_from = ?1"
      " AND b.pushed_from = ?2 AND EXISTS (SELECT 1 FROM run WHERE run.root_id = b.id)"
      " ORDER BY a.id");
  select.text(from).text(to);
  std::vector<std::string> paths;
  while (select.step()) paths.push_back(select.read_text());
  return paths;
}

}  // namespace llmb::storage
