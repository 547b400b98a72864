#include "storage/nested_roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "storage/root_claim.h"

namespace llmb::storage {
namespace {

struct Root {
  RootId id = 0;
  std::string path;
  std::string cluster;
};

std::vector<Root> read_watched_roots(Connection& connection) {
  Statement& select =
      connection.kept("SELECT id, path, cluster FROM root WHERE pushed_from = '' ORDER BY id");
  std::vector<Root> roots;
  while (select.step()) {
    Root& root = roots.emplace_back();
    root.id = select.read_integer();
    root.path = select.read_text();
    root.cluster = select.read_text();
  }
  return roots;
}

// Of the paths of all that lies below `inner`, as `outer` has them.
std::string prefix_of(std::string_view inner, std::string_view outer) {
  return std::string(inner.substr(outer == "/" ? 1 : outer.size() + 1)) + '/';
}

// Runs of one root that are to be another's: `from_prefix`, with which their paths begin there
// (empty: all of them), becomes `to_prefix`.
struct Move {
  RootId from = 0;
  RootId to = 0;
  std::string from_prefix;
  std::string to_prefix;

  // The first text behind all that begin with the prefix.
  std::string end() const {
    if (from_prefix.empty()) return "\U0010FFFF";
    std::string next = from_prefix;
    ++next.back();
    return next;
  }
};

constexpr const char* kIsBelow = "relative_path >= ?2 AND relative_path < ?3";

std::string path_below_other(std::string_view table) {
  return fmt::format("CAST(?5 AS text) || substr({}.relative_path, length(CAST(?2 AS text)) + 1)",
                     table);
}

std::int64_t carry_out(Connection& connection, const Move& move) {
  const auto run = [&](const std::string& sql) {
    Statement& statement = connection.kept(sql);
    statement.integer(move.from).text(move.from_prefix).text(move.end());
    statement.integer(move.to).text(move.to_prefix).run();
    return connection.changes();
  };
  const std::string is_moved = fmt::format(
      "run.root_id = ?1 AND run.relative_path >= ?2 AND run.relative_path < ?3 AND NOT EXISTS"
      " (SELECT 1 FROM run AS there WHERE there.root_id = ?4 AND there.relative_path = {})",
      path_below_other("run"));
  run(
      fmt::format("UPDATE run_profile SET relative_path = {} WHERE {} AND run_id IN"
                  " (SELECT run.id FROM run WHERE {})",
                  path_below_other("run_profile"), kIsBelow, is_moved));
  const std::int64_t runs =
      run(fmt::format("UPDATE run SET root_id = ?4, revision = revision + 1, relative_path = {}"
                      " WHERE {}",
                      path_below_other("run"), is_moved));
  run(
      fmt::format("UPDATE removed_log SET root_id = ?4, relative_path = {}"
                  " WHERE root_id = ?1 AND store_id = '' AND {}",
                  path_below_other("removed_log"), kIsBelow));
  // Whoever reads them now tries them anew.
  Statement& unpark =
      connection.kept(fmt::format("DELETE FROM parked_file WHERE root_id = ?1 AND {}", kIsBelow));
  unpark.integer(move.from).text(move.from_prefix).text(move.end()).run();
  return runs;
}

}  // namespace

std::int64_t gather_runs(Connection& connection, RootId root,
                         std::span<const std::string> left_out) {
  const std::vector<Root> roots = read_watched_roots(connection);
  const auto own =
      std::find_if(roots.begin(), roots.end(), [&](const Root& one) { return one.id == root; });
  if (own == roots.end()) return 0;
  const auto is_left_out = [&](const std::string& path) {
    return std::any_of(left_out.begin(), left_out.end(),
                       [&](const std::string& one) { return path == one || is_inside(path, one); });
  };
  std::int64_t moved = 0;
  for (const Root& other : roots) {
    if (!may_be_of_one_cluster(own->cluster, other.cluster)) continue;
    if (is_inside(own->path, other.path)) {
      moved += carry_out(connection, {other.id, root, prefix_of(own->path, other.path), ""});
    } else if (is_inside(other.path, own->path) && !is_left_out(other.path)) {
      moved += carry_out(connection, {other.id, root, "", prefix_of(other.path, own->path)});
    }
  }
  return moved;
}

}  // namespace llmb::storage
