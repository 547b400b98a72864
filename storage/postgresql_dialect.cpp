#include "storage/postgresql_dialect.h"

#include "parser/foundation/text.h"
#include "storage/searched_text.h"

namespace llmb::storage {

const SqlDialect& postgresql_dialect() {
  // Of an array PostgreSQL looks up each number in the column's index; of a subquery it does not
  // know how many there are.
  static constexpr SqlDialect kDialect{
      .without_index = "",
      // As the index run_text has it.
      .contains = "lower({}) LIKE ?",
      .searched_text = [](std::string_view text) { return like_pattern(parser::lower(text)); },
      .is_named_elsewhere = "strpos(relative_path, experiment) = 0",
      .is_either = "({} OR ({}))",
      .candidates_of_text = "",
      .trigrams = nullptr,
      .is_in_list = " = ANY (CAST(? AS bigint[]))",
      .is_in_long_list = " IN (SELECT unnest(CAST(? AS bigint[])))",
      .list_begin = '{',
      .list_end = '}',
      .runs_by_combination = "run",
      .is_of_combination =
          "run_combination(is_superseded, root_id, cluster, workload, model_size,"
          " dtype, gpu_type, gpu_count, release, status, failure_cause, marks) = ?",
      .combinations_max = 100,
      .runs_in_time =
          "(SELECT count(*) FROM run WHERE run_combination(run.is_superseded, run.root_id,"
          " run.cluster, run.workload, run.model_size, run.dtype, run.gpu_type,"
          " run.gpu_count, run.release, run.status, run.failure_cause, run.marks)"
          " = run_tally.key AND {})",
      .beside_new_runs = {},
      .table_list =
          "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
      .column_list =
          "SELECT name, type, place FROM (SELECT CAST(a.attname AS text) COLLATE \"C\" AS name,"
          "  format_type(a.atttypid, NULL) AS type,"
          "  coalesce(array_position(CAST(i.indkey AS smallint[]), a.attnum) + 1, 0) AS place"
          " FROM pg_attribute AS a LEFT JOIN pg_index AS i ON i.indrelid = a.attrelid AND "
          "i.indisprimary"
          " WHERE a.attrelid = to_regclass(CAST(? AS text)) AND a.attnum > 0 AND NOT a.attisdropped"
          "  AND a.attgenerated = '') AS columns ORDER BY place = 0, place, name"};
  return kDialect;
}

}  // namespace llmb::storage
