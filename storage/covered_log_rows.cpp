#include "storage/covered_log_rows.h"

namespace llmb::storage {

void keep_covered_log(Connection& connection, RunId run, const std::string& store_id,
                      const LogTelling& log) {
  forget_covered_log(connection, run, store_id, log.run.generation);
  connection
      .kept(
          "INSERT INTO covered_log (run_id, store_id, generation, revision, step_count,"
          " bytes_read) VALUES (?, ?, ?, ?, ?, ?)")
      .integer(run)
      .text(store_id)
      .integer(log.run.generation)
      .integer(log.run.revision)
      .integer(log.run.step_count)
      .bits(log.run.facts.bytes_read)
      .run();
}

// Any run of the log may have covered it before: of rewritten logs each generation is one.
void forget_covered_log(Connection& connection, RunId run, const std::string& store_id,
                        std::int64_t generation) {
  connection
      .kept(
          "DELETE FROM covered_log WHERE store_id = ?1 AND generation = ?2 AND run_id IN"
          " (SELECT same.id FROM run JOIN run AS same ON same.root_id = run.root_id"
          "  AND same.relative_path = run.relative_path WHERE run.id = ?3)")
      .text(store_id)
      .integer(generation)
      .integer(run)
      .run();
}

void erase_covered_logs_of(Connection& connection, const std::string& store_id) {
  connection.kept("DELETE FROM covered_log WHERE store_id = ?").text(store_id).run();
}

}  // namespace llmb::storage
