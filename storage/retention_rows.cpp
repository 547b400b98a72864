#include "storage/retention_rows.h"

#include <algorithm>
#include <vector>

#include "storage/log_text_rows.h"
#include "storage/removal_plan.h"
#include "storage/removed_log_rows.h"
#include "storage/run_removal.h"

namespace llmb::storage {
namespace {

struct Generation {
  RunId run = 0;
  std::int64_t steps = 0;
};

std::vector<Generation> generations_of(Connection& connection, const LogName& log) {
  Statement& select = connection.kept(
      "SELECT id, step_count FROM run WHERE root_id = ? AND relative_path = ? ORDER BY id");
  select.integer(log.root).text(log.relative_path);
  std::vector<Generation> generations;
  while (select.step()) {
    Generation& generation = generations.emplace_back();
    generation.run = select.read_integer();
    generation.steps = select.read_integer();
  }
  return generations;
}

}  // namespace

RemovalCount remove_log(Connection& connection, const RetentionPolicy& policy, RunId newest,
                        parser::Instant now) {
  RemovalCount count;
  const auto log = fitting_log(connection, policy, newest, now);
  if (!log) return count;
  const std::string removed_at = parser::instant_text(now);
  RunId last = 0;
  for (const Generation& generation : generations_of(connection, *log)) {
    const std::uint64_t text_bytes = log_text_stored_bytes(connection, generation.run);
    count.log_text_bytes += text_bytes;
    if (policy.only_log_text) {
      if (text_bytes == 0) continue;
      ++count.runs;
      remove_log_text(connection, generation.run);
      continue;
    }
    ++count.runs;
    count.steps += generation.steps;
    last = std::max(last, generation.run);
    keep_removed_log(connection, generation.run, removed_at, policy.words);
    keep_removed_run(connection, generation.run, removed_at, policy.words);
    remove_run(connection, generation.run);
  }
  RemovalCount in_total = count;
  if (policy.only_log_text) in_total.runs = 0;
  add_to_total(connection, in_total, last, removed_at);
  return count;
}

}  // namespace llmb::storage
