#include "storage/postgresql_neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "storage/writer_mark.h"

namespace llmb::storage {
namespace {

// The locks of trees are those of PostgresqlDatabase::try_lock(), by their names' hashes. Anybody
// may read who holds one.
constexpr const char* kSelect =
    "SELECT substr(mark.name, 6), mark.last_revision, mark.cluster, mark.holder,"
    " CASE WHEN hashtextextended(current_schema() || ' ' || mark.name, 0) IN"
    "  (SELECT (CAST(classid AS bigint) << 32) | CAST(objid AS bigint) FROM pg_locks"
    "   WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND database ="
    "    (SELECT oid FROM pg_database WHERE datname = current_database()))"
    "  THEN 1 ELSE 0 END,"
    " CASE WHEN EXISTS (SELECT 1 FROM left_out_tree AS l WHERE l.name = mark.name AND"
    "  (l.path = ?1 OR starts_with(?1, l.path || '/'))) THEN 1 ELSE 0 END"
    " FROM writer_mark AS mark WHERE mark.name LIKE 'root %' ORDER BY mark.name";

}  // namespace

void outdate_mark(Connection& connection, const std::string& path,
                  const std::optional<std::string>& holder) {
  connection
      .kept(fmt::format("UPDATE writer_mark SET last_revision = {}, holder = coalesce(?, holder)"
                        " WHERE name = ?",
                        kNoRevisionSql))
      .text(holder)
      .text("root " + path)
      .run();
}

void Neighbours::look(Connection& connection, std::chrono::milliseconds inner_rest) {
  trees_.clear();
  own_revision_.reset();
  Statement& select = connection.kept(kSelect);
  select.text(ours_.path);
  while (select.step()) {
    NeighbourTree tree;
    tree.path = select.read_text();
    const std::int64_t revision = select.read_integer();
    if (tree.path == ours_.path) own_revision_ = revision;
    const std::string cluster = select.read_text();
    tree.holder = select.read_text();
    tree.is_claimed = select.read_boolean();
    tree.leaves_ours = select.read_boolean();
    const bool is_near = is_inside(tree.path, ours_.path) || is_inside(ours_.path, tree.path);
    if (is_near && may_be_of_one_cluster(cluster, ours_.cluster)) trees_.push_back(std::move(tree));
  }
  choose_left_out(inner_rest);
}

void Neighbours::choose_left_out(std::chrono::milliseconds inner_rest) {
  const auto now = std::chrono::steady_clock::now();
  std::set<std::string> chosen(ours_.inner_paths.begin(), ours_.inner_paths.end());
  for (const NeighbourTree& tree : trees_) {
    if (!is_inside(tree.path, ours_.path)) continue;
    if (tree.is_claimed) {
      unclaimed_since_.erase(tree.path);
    } else if (now - unclaimed_since_.try_emplace(tree.path, now).first->second >= inner_rest) {
      continue;
    }
    chosen.insert(tree.path);
  }
  left_out_.assign(chosen.begin(), chosen.end());
}

const NeighbourTree* Neighbours::awaited() const {
  const auto found = std::find_if(trees_.begin(), trees_.end(), [&](const NeighbourTree& tree) {
    return is_inside(ours_.path, tree.path) && tree.is_claimed && !tree.leaves_ours;
  });
  return found == trees_.end() ? nullptr : &*found;
}

const NeighbourTree* Neighbours::find(const std::string& path) const {
  const auto found = std::find_if(trees_.begin(), trees_.end(),
                                  [&](const NeighbourTree& tree) { return tree.path == path; });
  return found == trees_.end() ? nullptr : &*found;
}

void Neighbours::settle(Connection& connection) {
  const std::string own_name = "root " + ours_.path;
  connection.kept("DELETE FROM left_out_tree WHERE name = ?").text(own_name).run();
  for (const std::string& path : left_out_) {
    connection.kept("INSERT INTO left_out_tree (name, path) VALUES (?, ?)")
        .text(own_name)
        .text(path)
        .run();
  }
  for (const NeighbourTree& tree : trees_) {
    if (tree.is_claimed) continue;
    if (is_inside(tree.path, ours_.path)) {
      if (std::binary_search(left_out_.begin(), left_out_.end(), tree.path)) continue;
      // Ours from now on. Should its writer's session come back, it finds that it has lost it.
      connection.kept("DELETE FROM writer_mark WHERE name = ?").text("root " + tree.path).run();
      unclaimed_since_.erase(tree.path);
    } else if (!tree.leaves_ours) {
      // Its writer's session may come back, and must not go on with what is ours by then.
      outdate_mark(connection, tree.path, std::nullopt);
    }
  }
}

}  // namespace llmb::storage
