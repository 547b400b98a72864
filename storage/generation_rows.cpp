#include "storage/generation_rows.h"

#include <string_view>
#include <vector>

namespace llmb::storage {
namespace {

// Every table with rows of a run. A table that is missing here makes the removal fail, because
// foreign keys are on.
constexpr std::string_view kRemovals[] = {
    "DELETE FROM run_configuration WHERE run_id = ?",
    "DELETE FROM run_segment WHERE run_id = ?",
    "DELETE FROM run_event WHERE run_id = ?",
    "DELETE FROM run_checkpoint WHERE run_id = ?",
    "DELETE FROM run_nccl WHERE run_id = ?",
    "DELETE FROM run_rank_measure WHERE run_id = ?",
    "DELETE FROM run_profile WHERE run_id = ?",
    "DELETE FROM log_cursor WHERE run_id = ?",
    "DELETE FROM log_text WHERE run_id = ?",
    "DELETE FROM pushed_run WHERE run_id = ?",
    "DELETE FROM push_state WHERE run_id = ?",
    "DELETE FROM step_field WHERE run_id = ?",
    "DELETE FROM step_sample WHERE run_id = ?",
    "DELETE FROM run WHERE id = ?",
};

}  // namespace

void thin_generations(Connection& connection, RootId root, const std::string& relative_path) {
  Statement& select = connection.kept(
      "SELECT id, step_count FROM run WHERE root_id = ? AND relative_path = ? AND is_superseded = 1"
      " ORDER BY generation DESC");
  select.integer(root).text(relative_path);
  std::vector<RunId> removed;
  int kept = 0;
  while (select.step()) {
    const RunId run = select.read_integer();
    const bool has_steps = select.read_integer() > 0;
    if (has_steps && kept < kSupersededKept) {
      ++kept;
    } else {
      removed.push_back(run);
    }
  }
  for (const RunId run : removed) {
    for (const std::string_view sql : kRemovals) connection.kept(sql).integer(run).run();
  }
}

}  // namespace llmb::storage
