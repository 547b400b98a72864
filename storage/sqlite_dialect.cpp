#include "storage/sqlite_dialect.h"

#include <fmt/format.h>

#include <array>

#include "storage/searched_text.h"

namespace llmb::storage {
namespace {

// The key is that of the triggers for runs that change or go (migrations/0020_run_tally.sql).
constexpr std::array<std::string_view, 2> kBesideNewRuns = {
    "INSERT INTO run_tally"
    " SELECT is_superseded || ',' || root_id || ',' || coalesce(gpu_count, 'NULL') || ',' || marks"
    " || ',' || quote(CAST(cluster AS BLOB)) || ',' || quote(CAST(workload AS BLOB))"
    " || ',' || quote(CAST(model_size AS BLOB)) || ',' || quote(CAST(dtype AS BLOB))"
    " || ',' || quote(CAST(gpu_type AS BLOB)) || ',' || quote(CAST(release AS BLOB))"
    " || ',' || quote(CAST(status AS BLOB)) || ',' || quote(CAST(failure_cause AS BLOB)),"
    " is_superseded, root_id, cluster, workload, model_size, dtype, gpu_type, gpu_count, release,"
    " status, failure_cause, marks, 1 FROM run WHERE id BETWEEN ? AND ?"
    " ON CONFLICT (key) DO UPDATE SET runs = runs + 1",
    "INSERT INTO run_text_change (run_id, words, is_gone)"
    " SELECT id, relative_path || ' ' || experiment, 0 FROM run WHERE id BETWEEN ? AND ?"};

}  // namespace

const SqlDialect& sqlite_dialect() {
  // Else it takes the index of a sort key where that has the number of the run in it, too.
  static const std::string runs = "run INDEXED BY run_filter";
  static const std::string is_of_tally =
      "run.workload IS run_tally.workload AND run.model_size IS run_tally.model_size"
      " AND run.dtype IS run_tally.dtype AND run.gpu_type IS run_tally.gpu_type"
      " AND run.gpu_count IS run_tally.gpu_count AND run.release IS run_tally.release"
      " AND run.cluster IS run_tally.cluster AND run.status = run_tally.status"
      " AND run.root_id = run_tally.root_id AND run.is_superseded = run_tally.is_superseded"
      " AND run.failure_cause = run_tally.failure_cause AND run.marks = run_tally.marks";
  static const std::string runs_by_combination =
      fmt::format("run_tally JOIN {} ON {}", runs, is_of_tally);
  static const std::string runs_in_time =
      fmt::format("(SELECT count(*) FROM {} WHERE {} AND {{}})", runs, is_of_tally);
  static const SqlDialect dialect{
      .without_index = "+",
      .contains = "{} LIKE ? ESCAPE '\\'",
      .searched_text = like_pattern,
      .is_named_elsewhere = "instr(relative_path, experiment) = 0",
      .is_either = "id IN (SELECT id FROM run WHERE {} UNION ALL SELECT id FROM run WHERE {})",
      .candidates_of_text =
          "SELECT rowid AS candidate FROM run_text WHERE run_text MATCH ?"
          " AND rowid NOT IN (SELECT run_id FROM run_text_change)"
          " UNION ALL SELECT DISTINCT run_id FROM run_text_change",
      .trigrams = trigrams_to_match,
      .is_in_list = " IN (SELECT value FROM json_each(?))",
      .is_in_long_list = " IN (SELECT value FROM json_each(?))",
      .list_begin = '[',
      .list_end = ']',
      .runs_by_combination = runs_by_combination,
      .is_of_combination = "run_tally.key = ?",
      .combinations_max = 1'000,
      .runs_in_time = runs_in_time,
      .beside_new_runs = kBesideNewRuns,
      .table_list =
          "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
          " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
      .column_list =
          "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden = 0"
          " ORDER BY pk = 0, pk, name"};
  return dialect;
}

}  // namespace llmb::storage
