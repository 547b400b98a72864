#include "storage/told_root.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace llmb::storage {
namespace {

constexpr std::size_t kAskedAtOnce = 32;

// One condition a path: each is answered by a look into an index, however few rows there were when
// the engine made its plan.
std::string are_known_sql() {
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < kAskedAtOnce; ++i) {
    sql += fmt::format(
        "{0}EXISTS (SELECT 1 FROM run WHERE root_id = ?1 AND relative_path = ?{1}) OR"
        " EXISTS (SELECT 1 FROM removed_log WHERE root_id = ?1 AND relative_path = ?{1})",
        i == 0 ? "" : ", ", i + 2);
  }
  return sql;
}

// Up to kAskedAtOnce paths.
void find_known(Connection& connection, RootId root, std::span<const std::string> paths,
                std::set<std::string>& known) {
  static const std::string sql = are_known_sql();
  Statement& select = connection.kept(sql);
  select.integer(root);
  for (std::size_t i = 0; i < kAskedAtOnce; ++i) select.text(paths[std::min(i, paths.size() - 1)]);
  if (!select.step()) return;
  for (const std::string& path : paths) {
    if (select.read_boolean()) known.insert(path);
  }
  select.reset();
}

}  // namespace

ToldRoot::ToldRoot(Connection& connection, const std::string& cluster, const std::string& path,
                   std::span<const std::string> relative_paths)
    : connection_(connection), id_(pushed_root(connection, cluster, path)) {
  while (!relative_paths.empty()) {
    const auto some = relative_paths.first(std::min(relative_paths.size(), kAskedAtOnce));
    find_known(connection, id_, some, known_);
    relative_paths = relative_paths.subspan(some.size());
  }
}

PushDecision ToldRoot::decide_on(const PushSender& sender, const LogTelling& log) {
  const bool is_new = known_.insert(log.run.relative_path).second;
  return is_new ? decide_on_new(log) : storage::decide_on(connection_, id_, sender, log);
}

ToldRoots told_roots(Connection& connection, const std::string& cluster,
                     std::span<const LogTelling> logs) {
  std::map<std::string_view, std::vector<std::string>> paths;
  std::vector<std::string_view> in_order;  // of their ids
  for (const LogTelling& log : logs) {
    std::vector<std::string>& of_root = paths[log.root_path];
    if (of_root.empty()) in_order.push_back(log.root_path);
    of_root.push_back(log.run.relative_path);
  }
  ToldRoots roots;
  for (const std::string_view path : in_order) {
    const std::string root(path);
    roots.try_emplace(root, connection, cluster, root, paths[path]);
  }
  return roots;
}

}  // namespace llmb::storage
