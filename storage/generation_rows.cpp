#include "storage/generation_rows.h"

#include "storage/run_removal.h"

namespace llmb::storage {
void thin_generations(Connection& connection, RootId root, const std::string& relative_path,
                      RunId written, std::vector<RunChange>& changes) {
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
    } else if (run != written) {
      removed.push_back(run);
    }
  }
  for (const RunId run : removed) {
    remove_run(connection, run);
    changes.push_back({RunChange::Kind::removed, run});
  }
}

}  // namespace llmb::storage
