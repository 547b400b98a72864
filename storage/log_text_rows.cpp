#include "storage/log_text_rows.h"

#include <algorithm>

namespace llmb::storage {
namespace {

struct TextEnd {
  std::uint64_t at = 0;      // where the last block ends; 0: there is none
  bool was_removed = false;  // an empty block says where the text ended
};

TextEnd find_text_end(Connection& connection, RunId run) {
  Statement& find = connection.kept(
      "SELECT first_byte + byte_count, byte_count = 0 FROM log_text WHERE run_id = ?"
      " ORDER BY first_byte DESC LIMIT 1");
  TextEnd end;
  if (find.integer(run).step()) {
    end.at = find.read_bits();
    end.was_removed = find.read_boolean();
  }
  find.reset();
  return end;
}

// 0: it is not held.
std::uint64_t find_block_end(Connection& connection, RunId run, std::uint64_t first_byte) {
  Statement& find = connection.kept(
      "SELECT first_byte + byte_count FROM log_text WHERE run_id = ? AND first_byte = ?");
  const std::uint64_t end = find.integer(run).bits(first_byte).step() ? find.read_bits() : 0;
  find.reset();
  return end;
}

}  // namespace

std::optional<ToldRun> find_told_run(Connection& connection, const std::string& cluster,
                                     const std::string& store_id, const LogBlockTelling& told) {
  Statement& find = connection.kept(
      "SELECT run.id, p.store_id = ?4 AND p.generation = ?5 FROM run"
      " JOIN root ON root.id = run.root_id JOIN pushed_run AS p ON p.run_id = run.id"
      " WHERE root.pushed_from = ?1 AND root.path = ?2 AND run.relative_path = ?3"
      " AND ((p.store_id = ?4 AND p.generation = ?5)"
      "  OR EXISTS (SELECT 1 FROM covered_log AS w WHERE w.run_id = run.id"
      "   AND w.store_id = ?4 AND w.generation = ?5 AND w.bytes_read = run.bytes_read))"
      " ORDER BY 2 DESC LIMIT 1");
  find.text(cluster)
      .text(told.root_path)
      .text(told.relative_path)
      .text(store_id)
      .integer(told.generation);
  std::optional<ToldRun> found;
  if (find.step()) {
    found.emplace().run = find.read_integer();
    found->is_word_of_sender = find.read_boolean();
  }
  find.reset();
  return found;
}

std::uint64_t write_log_block(Connection& connection, const ToldRun& told, const LogBlock& block) {
  const RunId run = told.run;
  connection
      .kept(
          "INSERT INTO log_text (run_id, first_byte, byte_count, packed) VALUES (?, ?, ?, ?)"
          " ON CONFLICT (run_id, first_byte) DO UPDATE SET byte_count = excluded.byte_count,"
          " packed = excluded.packed WHERE log_text.byte_count < excluded.byte_count + ?")
      .integer(run)
      .bits(block.first_byte)
      .bits(block.byte_count)
      .bytes(block.packed)
      .integer(told.is_word_of_sender ? 1 : 0)
      .run();
  const std::uint64_t end = block.first_byte + block.byte_count;
  connection.kept("DELETE FROM log_text WHERE run_id = ? AND first_byte < ? AND byte_count = 0")
      .integer(run)
      .bits(end)
      .run();
  if (end > kLogHeadBytes + kLogTailBytes) {
    connection.kept("DELETE FROM log_text WHERE run_id = ? AND first_byte >= ? AND first_byte < ?")
        .integer(run)
        .bits(kLogHeadBytes)
        .bits((end - kLogTailBytes) / kLogBlockBytes * kLogBlockBytes)
        .run();
  }
  const TextEnd last = find_text_end(connection, run);
  if (!told.is_word_of_sender || last.was_removed) return last.at;
  return std::max(end, find_block_end(connection, run, block.first_byte));
}

// An empty block stands where the text ended.
void remove_log_text(Connection& connection, RunId run) {
  const std::uint64_t end = log_text_end(connection, run);
  connection.kept("DELETE FROM log_text WHERE run_id = ?").integer(run).run();
  if (end == 0) return;
  connection
      .kept("INSERT INTO log_text (run_id, first_byte, byte_count, packed) VALUES (?, ?, 0, ?)")
      .integer(run)
      .bits(end)
      .bytes("")
      .run();
}

std::uint64_t log_text_stored_bytes(Connection& connection, RunId run) {
  Statement& find = connection.kept(
      "SELECT CAST(coalesce(sum(length(packed)), 0) AS bigint) FROM log_text WHERE run_id = ?");
  const std::uint64_t bytes = find.integer(run).step() ? find.read_bits() : 0;
  find.reset();
  return bytes;
}

std::uint64_t log_text_end(Connection& connection, RunId run) {
  return find_text_end(connection, run).at;
}

std::vector<LogBlockPlace> read_log_block_places(Connection& connection, RunId run) {
  Statement& select = connection.kept(
      "SELECT first_byte, byte_count, CAST(length(packed) AS bigint) FROM log_text"
      " WHERE run_id = ? AND byte_count > 0 ORDER BY first_byte");
  select.integer(run);
  std::vector<LogBlockPlace> places;
  while (select.step()) {
    LogBlockPlace& place = places.emplace_back();
    place.first_byte = select.read_bits();
    place.byte_count = select.read_bits();
    place.packed_bytes = select.read_bits();
  }
  return places;
}

std::vector<LogBlock> read_log_blocks(Connection& connection, RunId run, std::uint64_t begin,
                                      std::uint64_t end) {
  Statement& select = connection.kept(
      "SELECT first_byte, byte_count, packed FROM log_text"
      " WHERE run_id = ? AND first_byte >= ? AND first_byte < ? AND byte_count > 0"
      " ORDER BY first_byte");
  select.integer(run).bits(begin / kLogBlockBytes * kLogBlockBytes).bits(end);
  std::vector<LogBlock> blocks;
  while (select.step()) {
    LogBlock block;
    block.first_byte = select.read_bits();
    block.byte_count = select.read_bits();
    block.packed = select.read_bytes();
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace llmb::storage
