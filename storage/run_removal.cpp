#include "storage/run_removal.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "storage/stored_tables.h"

namespace llmb::storage {
namespace {

// The run's own row is the last.
std::vector<std::string> removals() {
  std::vector<std::string> removals;
  for (auto table = kStoredTables.rbegin(); table != kStoredTables.rend(); ++table) {
    if (table->run_column.empty()) continue;
    removals.push_back(fmt::format("DELETE FROM {} WHERE {} = ?", table->name, table->run_column));
  }
  return removals;
}

}  // namespace

void remove_run(Connection& connection, RunId run) {
  static const std::vector<std::string> all_sql = removals();
  for (const std::string& sql : all_sql) connection.kept(sql).integer(run).run();
}

}  // namespace llmb::storage
