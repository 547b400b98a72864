#include "storage/removed_log_rows.h"

namespace llmb::storage {
namespace {

constexpr std::string_view kSelect =
    "SELECT id, root_id, relative_path, generation, size_bytes, bytes_read, inode, head_hash,"
    " head_length, tail_hash, tail_length, byte_offset, store_id, store_generation,"
    " store_revision, store_step_count FROM removed_log";

RemovedLog read_row(Statement& row) {
  RemovedLog log;
  log.id = row.read_integer();
  log.root_id = row.read_integer();
  log.relative_path = row.read_text();
  log.generation = row.read_integer();
  log.size_bytes = row.read_bits();
  log.bytes_read = row.read_bits();
  log.cursor.inode = row.read_bits();
  log.cursor.head_hash = row.read_bits();
  log.cursor.head_length = static_cast<std::uint32_t>(row.read_integer());
  log.cursor.tail_hash = row.read_bits();
  log.cursor.tail_length = static_cast<std::uint32_t>(row.read_integer());
  log.cursor.offset = row.read_bits();
  log.store_id = row.read_text();
  log.store_generation = row.read_integer();
  log.store_revision = row.read_integer();
  log.store_step_count = row.read_integer();
  return log;
}

std::vector<RemovedLog> read_rows(Statement& select) {
  std::vector<RemovedLog> logs;
  while (select.step()) logs.push_back(read_row(select));
  return logs;
}

}  // namespace

void keep_removed_log(Connection& connection, RunId run, const std::string& removed_at,
                      const std::string& policy) {
  connection
      .kept(
          "INSERT INTO removed_log (id, root_id, relative_path, generation, size_bytes,"
          " bytes_read, inode, head_hash, head_length, tail_hash, tail_length, byte_offset,"
          " store_id, store_generation, store_revision, store_step_count, removed_at, policy)"
          " SELECT run.id, run.root_id, run.relative_path, run.generation, run.size_bytes,"
          " run.bytes_read, coalesce(c.inode, 0), coalesce(p.head_hash, c.head_hash, 0),"
          " coalesce(p.head_length, c.head_length, 0), coalesce(c.tail_hash, 0),"
          " coalesce(c.tail_length, 0), coalesce(c.byte_offset, 0), coalesce(p.store_id, ''),"
          " coalesce(p.generation, 0), coalesce(p.revision, 0), run.step_count, ?, ?"
          " FROM run LEFT JOIN log_cursor AS c ON c.run_id = run.id"
          " LEFT JOIN pushed_run AS p ON p.run_id = run.id WHERE run.id = ?"
          " AND (p.run_id IS NOT NULL OR (c.run_id IS NOT NULL AND run.is_superseded = 0"
          "  AND run.vanished_at IS NULL))")
      .text(removed_at)
      .text(policy)
      .integer(run)
      .run();
}

void keep_removed_run(Connection& connection, RunId run, const std::string& removed_at,
                      const std::string& policy) {
  connection.kept("INSERT INTO removed_run (id, removed_at, policy) VALUES (?, ?, ?)")
      .integer(run)
      .text(removed_at)
      .text(policy)
      .run();
}

std::optional<RemovedRun> find_removed_run(Connection& connection, RunId run) {
  Statement& select =
      connection.kept("SELECT removed_at, policy FROM removed_run WHERE id = ?").integer(run);
  if (!select.step()) return std::nullopt;
  RemovedRun removed;
  removed.removed_at = select.read_text();
  removed.policy = select.read_text();
  select.reset();
  return removed;
}

std::optional<RemovedLog> find_removed_log(Connection& connection, RootId root,
                                           const std::string& relative_path) {
  static const std::string sql =
      std::string(kSelect) + " WHERE root_id = ? AND relative_path = ? AND store_id = ''";
  Statement& select = connection.kept(sql);
  select.integer(root).text(relative_path);
  if (!select.step()) return std::nullopt;
  RemovedLog log = read_row(select);
  select.reset();
  return log;
}

std::vector<RemovedLog> read_removed_logs(Connection& connection) {
  static const std::string sql = std::string(kSelect) + " WHERE store_id = '' ORDER BY id";
  return read_rows(connection.kept(sql));
}

void forget_removed_log(Connection& connection, RootId root, const std::string& relative_path) {
  connection
      .kept("DELETE FROM removed_log WHERE root_id = ? AND relative_path = ? AND store_id = ''")
      .integer(root)
      .text(relative_path)
      .run();
}

std::vector<RemovedLog> find_removed_pushed_logs(Connection& connection, RootId root,
                                                 const std::string& relative_path) {
  static const std::string sql =
      std::string(kSelect) +
      " WHERE root_id = ? AND relative_path = ? AND store_id <> '' ORDER BY id DESC";
  Statement& select = connection.kept(sql);
  select.integer(root).text(relative_path);
  return read_rows(select);
}

void update_removed_word(Connection& connection, RunId id, std::int64_t revision,
                         std::int64_t step_count) {
  connection.kept("UPDATE removed_log SET store_revision = ?, store_step_count = ? WHERE id = ?")
      .integer(revision)
      .integer(step_count)
      .integer(id)
      .run();
}

void forget_removed_pushed_log(Connection& connection, RunId id) {
  connection.kept("DELETE FROM removed_log WHERE id = ?").integer(id).run();
}

void add_to_total(Connection& connection, const RemovalCount& count, RunId last_run,
                  const std::string& removed_at) {
  connection
      .kept(
          "INSERT INTO removal_total (id, last_run_id, runs, steps, log_text_bytes, removed_at)"
          " VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
          " last_run_id = CASE WHEN excluded.last_run_id > removal_total.last_run_id"
          "  THEN excluded.last_run_id ELSE removal_total.last_run_id END,"
          " runs = removal_total.runs + excluded.runs,"
          " steps = removal_total.steps + excluded.steps,"
          " log_text_bytes = removal_total.log_text_bytes + excluded.log_text_bytes,"
          " removed_at = excluded.removed_at")
      .integer(last_run)
      .integer(count.runs)
      .integer(count.steps)
      .bits(count.log_text_bytes)
      .text(removed_at)
      .run();
}

RemovalTotal read_removal_total(Connection& connection) {
  Statement& select =
      connection.kept("SELECT runs, steps, log_text_bytes, removed_at FROM removal_total");
  RemovalTotal total;
  if (!select.step()) return total;
  total.count.runs = select.read_integer();
  total.count.steps = select.read_integer();
  total.count.log_text_bytes = select.read_bits();
  total.removed_at = select.read_text();
  select.reset();
  return total;
}

}  // namespace llmb::storage
