#include "storage/removal_undo.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "parser/layout/run_path.h"

namespace llmb::storage {
namespace {

constexpr std::int64_t kMarksAtOnce = 4'096;

// A row of removed_log, with what its tree says of it.
struct RemovalMark {
  RunId id = 0;
  RootId root_id = 0;
  std::string relative_path;
  std::string root;  // path
  std::string cluster;
  bool is_pushed = false;
  std::int64_t step_count = 0;
  std::string removed_at;

  std::optional<std::string> launched_at() const {
    return parser::parse_run_path(root + "/" + relative_path).launched_at;
  }
};

// One log after the other; those behind `last`.
std::vector<RemovalMark> read_marks(Connection& connection, const RemovalMark& last) {
  Statement& select = connection.kept(
      "SELECT r.id, r.root_id, r.relative_path, root.path, root.cluster, r.store_id <> '',"
      " r.store_step_count, r.removed_at FROM removed_log AS r JOIN root ON root.id = r.root_id"
      " WHERE (r.root_id, r.relative_path, r.id) > (?, ?, ?)"
      " ORDER BY r.root_id, r.relative_path, r.id LIMIT ?");
  select.integer(last.root_id).text(last.relative_path).integer(last.id).integer(kMarksAtOnce);
  std::vector<RemovalMark> marks;
  while (select.step()) {
    RemovalMark& mark = marks.emplace_back();
    mark.id = select.read_integer();
    mark.root_id = select.read_integer();
    mark.relative_path = select.read_text();
    mark.root = select.read_text();
    mark.cluster = select.read_text();
    mark.is_pushed = select.read_boolean();
    mark.step_count = select.read_integer();
    mark.removed_at = select.read_text();
  }
  return marks;
}

// Counts in the plan what may fit, for all that is known.
bool fits(const UndoFilter& filter, const RemovalMark& mark,
          const std::optional<std::string>& launched_at, UndoPlan& plan) {
  if (filter.root && mark.root != *filter.root) return false;
  if (filter.removed_since && mark.removed_at < *filter.removed_since) return false;
  if (filter.cluster && !mark.cluster.empty() && mark.cluster != *filter.cluster) return false;
  if (filter.launched_before) {
    // Nobody removes a log before it is launched.
    const std::string& no_later = launched_at ? *launched_at : mark.removed_at;
    const bool is_before = no_later < *filter.launched_before;
    if (!is_before && !launched_at) ++plan.of_unknown_launch;
    if (!is_before) return false;
  }
  if (filter.cluster && mark.cluster.empty()) {
    ++plan.of_unknown_cluster;
    plan.trees_of_unknown_cluster.insert(mark.root);
    return false;
  }
  return true;
}

void add(UndoGroup& group, const RemovalMark& mark, bool is_same_log) {
  if (!is_same_log) ++group.logs;
  group.steps += mark.step_count;
  if (group.first_removed_at.empty() || mark.removed_at < group.first_removed_at) {
    group.first_removed_at = mark.removed_at;
  }
  group.last_removed_at = std::max(group.last_removed_at, mark.removed_at);
}

}  // namespace

UndoPlan plan_undo(Connection& connection, const UndoFilter& filter) {
  UndoPlan plan;
  std::map<std::pair<std::string, std::string>, UndoGroup> groups;
  RemovalMark last;
  std::pair<RootId, std::string> log_before;
  for (std::size_t on_page = kMarksAtOnce; on_page == kMarksAtOnce;) {
    std::vector<RemovalMark> marks = read_marks(connection, last);
    on_page = marks.size();
    for (const RemovalMark& mark : marks) {
      const auto launched_at = mark.launched_at();
      if (!fits(filter, mark, launched_at, plan)) continue;
      std::pair<RootId, std::string> log(mark.root_id, mark.relative_path);
      const bool is_same_log = log == log_before;
      log_before = std::move(log);
      add(groups[{mark.cluster, launched_at ? launched_at->substr(0, 4) : ""}], mark, is_same_log);
      if (mark.is_pushed && !is_same_log) ++plan.pushed_logs;
      plan.removed.push_back(mark.id);
    }
    if (!marks.empty()) last = std::move(marks.back());
  }
  for (auto& [key, group] : groups) {
    group.cluster = key.first;
    group.year = key.second;
    plan.groups.push_back(std::move(group));
  }
  return plan;
}

std::int64_t let_in_again(OpenDatabase& database, std::span<const RunId> removed) {
  std::int64_t count = 0;
  std::set<std::string> trees;
  bool has_pushed = false;
  Statement& erase = database.connection().kept(
      "DELETE FROM removed_log WHERE id = ? RETURNING store_id <> '',"
      " (SELECT path FROM root WHERE root.id = removed_log.root_id)");
  for (const RunId id : removed) {
    erase.integer(id);
    if (erase.step()) {
      ++count;
      const bool is_pushed = erase.read_boolean();
      const std::string root = erase.read_text();
      has_pushed |= is_pushed;
      if (!is_pushed) trees.insert(root);
    }
    erase.reset();
  }
  for (const std::string& tree : trees) database.outdate_tree(tree);
  if (has_pushed) database.outdate_agents();
  return count;
}

}  // namespace llmb::storage
