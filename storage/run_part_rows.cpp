// The parts of a run that have tables of their own. Most ticks of a growing log change none of
// them, so each is compared with what is stored before it is written.
#include <fmt/format.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "storage/evidence_rows.h"
#include "storage/run_rows.h"
#include "storage/settings_text.h"

namespace llmb::storage {
namespace {

using parser::LogEvent;
using parser::RunConfiguration;
using parser::SegmentFacts;

void put_settings(Connection& connection, RunId run, const RunConfiguration& wanted) {
  static const std::string sql = put_row_sql("run_settings", 1, "run_id, settings");
  connection.kept(sql).integer(run).text(settings_text(wanted)).run();
}

std::string_view event_kind_name(LogEvent::Kind kind) {
  return kind == LogEvent::Kind::finish_marker ? "finish_marker" : "failure";
}

void write_events(Connection& connection, RunId run, const std::vector<LogEvent>& events,
                  bool is_new) {
  if (is_new ? events.empty() : read_events(connection, run) == events) return;
  if (!is_new) connection.kept("DELETE FROM run_event WHERE run_id = ?").integer(run).run();
  Statement& insert = connection.kept("INSERT INTO run_event VALUES (?,?,?,?,?,?,?,?,?)");
  std::int64_t position = 0;
  for (const LogEvent& event : events) {
    insert.integer(run).integer(position++).text(event_kind_name(event.kind)).text(event.cause);
    insert.text(event.line).bits(event.offset).integer(event.steps_before);
    insert.integer(event.rank).text(event.operation).run();
  }
}

constexpr std::string_view kSegmentColumns =
    "segment, first_iteration, last_iteration, step_count, nan_step_count, first_nan_iteration,"
    " first_offset";

void write_segments(Connection& connection, RunId run, const std::vector<SegmentFacts>& segments,
                    bool is_new) {
  std::vector<SegmentFacts> stored;
  if (!is_new) stored = read_segments(connection, run);
  // At most the last one is of another number than before, or there are fewer.
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (i < segments.size() && stored[i].segment == segments[i].segment) continue;
    connection.kept("DELETE FROM run_segment WHERE run_id = ? AND segment = ?")
        .integer(run)
        .integer(std::int64_t{stored[i].segment})
        .run();
  }
  static const std::string sql =
      put_row_sql("run_segment", 2, fmt::format("run_id, {}", kSegmentColumns));
  Statement& replace = connection.kept(sql);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentFacts& segment = segments[i];
    if (i < stored.size() && stored[i] == segment) continue;
    replace.integer(run).integer(std::int64_t{segment.segment});
    replace.integer(segment.first_iteration).integer(segment.last_iteration);
    replace.integer(segment.step_count).integer(segment.nan_step_count);
    replace.integer(segment.first_nan_iteration).bits(segment.first_offset).run();
  }
}

SegmentFacts read_segment(Statement& row) {
  SegmentFacts segment;
  segment.segment = static_cast<std::int32_t>(row.read_integer());
  segment.first_iteration = row.read_integer();
  segment.last_iteration = row.read_integer();
  segment.step_count = row.read_integer();
  segment.nan_step_count = row.read_integer();
  segment.first_nan_iteration = row.read_optional_integer();
  segment.first_offset = row.read_bits();
  return segment;
}

}  // namespace

void bind_identity(Statement& statement, const parser::RunIdentity& identity) {
  for (const std::string* const text :
       {&identity.workload, &identity.model_size, &identity.dtype, &identity.gpu_type}) {
    statement.text(text->empty() ? std::nullopt : std::optional(*text));
  }
  statement.integer(identity.gpu_count);
}

void bind_chosen(Statement& statement, const RunConfiguration& chosen, const ListedResult& listed) {
  bind_identity(statement, listed.catalog_hash ? listed.identity : parser::identity_of({}, chosen));
  statement.text(chosen.value("release")).text(chosen.value("cluster"));
}

void write_chosen(Connection& connection, RunId run, const RunConfiguration& chosen,
                  const ListedResult& listed) {
  Statement& update = connection.kept(
      "UPDATE run SET workload = ?1, model_size = ?2, dtype = ?3, gpu_type = ?4, gpu_count = ?5,"
      " release = ?6, cluster = coalesce("
      "   (SELECT nullif(root.cluster, '') FROM root WHERE root.id = run.root_id), ?7)"
      " WHERE id = ?8 AND (workload IS DISTINCT FROM ?1 OR model_size IS DISTINCT FROM ?2"
      " OR dtype IS DISTINCT FROM ?3 OR gpu_type IS DISTINCT FROM ?4"
      " OR gpu_count IS DISTINCT FROM ?5 OR release IS DISTINCT FROM ?6"
      " OR cluster IS DISTINCT FROM coalesce("
      "   (SELECT nullif(root.cluster, '') FROM root WHERE root.id = run.root_id), ?7))");
  bind_chosen(update, chosen, listed);
  update.integer(run).run();
}

void write_configuration(Connection& connection, RunId run, const RunConfiguration& wanted) {
  if (read_configuration(connection, run).all() == wanted.all()) return;
  put_settings(connection, run, wanted);
}

void write_parts(Connection& connection, RunId run, const IngestBatch& batch, bool is_new) {
  if (is_new) {
    put_settings(connection, run, batch.configuration);
  } else {
    write_configuration(connection, run, batch.configuration);
    write_chosen(connection, run, batch.configuration, batch.listed);
  }
  const parser::LogFacts& facts = batch.facts;
  write_segments(connection, run, facts.segments, is_new);
  write_events(connection, run, facts.events, is_new);
  write_checkpoints(connection, run, facts.checkpoints, is_new);
  write_nccl_uses(connection, run, facts.nccl.uses, is_new);
  write_rank_measures(connection, run, facts.ranks.measures, is_new);
  if (batch.profiles) write_profiles(connection, run, *batch.profiles, is_new);
}

void write_cursor(Connection& connection, RunId run, const LogCursor& cursor) {
  static const std::string sql =
      put_row_sql("log_cursor", 1, "run_id, " + std::string(kCursorColumns));
  Statement& replace = connection.kept(sql);
  replace.integer(run).bits(cursor.device).bits(cursor.inode);
  replace.bits(cursor.head_hash).integer(std::int64_t{cursor.head_length});
  replace.bits(cursor.tail_hash).integer(std::int64_t{cursor.tail_length});
  replace.bits(cursor.offset).text(cursor.parser_state).run();
}

LogCursor read_cursor_columns(Statement& row) {
  LogCursor cursor;
  cursor.device = row.read_bits();
  cursor.inode = row.read_bits();
  cursor.head_hash = row.read_bits();
  cursor.head_length = static_cast<std::uint32_t>(row.read_integer());
  cursor.tail_hash = row.read_bits();
  cursor.tail_length = static_cast<std::uint32_t>(row.read_integer());
  cursor.offset = row.read_bits();
  cursor.parser_state = row.read_text();
  return cursor;
}

std::optional<LogCursor> read_cursor(Connection& connection, RunId run) {
  static const std::string sql =
      fmt::format("SELECT {} FROM log_cursor WHERE run_id = ?", kCursorColumns);
  Statement& select = connection.kept(sql);
  if (!select.integer(run).step()) return std::nullopt;
  LogCursor cursor = read_cursor_columns(select);
  select.reset();
  return cursor;
}

RunConfiguration read_configuration(Connection& connection, RunId run) {
  Statement& select = connection.kept("SELECT settings FROM run_settings WHERE run_id = ?");
  RunConfiguration configuration;
  if (select.integer(run).step()) configuration = read_settings_text(select.read_text());
  select.reset();
  return configuration;
}

std::vector<SegmentFacts> read_segments(Connection& connection, RunId run) {
  static const std::string sql =
      fmt::format("SELECT {} FROM run_segment WHERE run_id = ? ORDER BY segment", kSegmentColumns);
  Statement& select = connection.kept(sql);
  select.integer(run);
  std::vector<SegmentFacts> segments;
  while (select.step()) segments.push_back(read_segment(select));
  return segments;
}

void read_listed_parts(Connection& connection, std::span<RunRecord> runs) {
  std::unordered_map<RunId, RunRecord*> by_id;
  std::vector<RunId> ids;
  for (RunRecord& run : runs) {
    by_id.emplace(run.id, &run);
    ids.push_back(run.id);
  }
  const SqlDialect& dialect = connection.dialect();
  const std::string list = dialect.list_text(ids);
  Statement& settings = connection.kept(
      fmt::format("SELECT run_id, settings FROM run_settings WHERE run_id{}", dialect.is_in_list));
  settings.text(list);
  while (settings.step()) {
    RunRecord& run = *by_id.at(settings.read_integer());
    run.configuration = read_settings_text(settings.read_text());
  }
  Statement& segments = connection.kept(
      fmt::format("SELECT run_id, {} FROM run_segment WHERE run_id{} ORDER BY run_id, segment",
                  kSegmentColumns, dialect.is_in_list));
  segments.text(list);
  while (segments.step()) {
    RunRecord& run = *by_id.at(segments.read_integer());
    run.facts.segments.push_back(read_segment(segments));
  }
}

std::vector<RunRecord> read_listed_runs(Connection& connection, std::span<const RunId> ids) {
  const SqlDialect& dialect = connection.dialect();
  Statement& select = connection.kept(
      fmt::format("{} WHERE id{} ORDER BY id", select_run_sql(), dialect.is_in_list));
  select.text(dialect.list_text(ids));
  std::vector<RunRecord> runs;
  runs.reserve(ids.size());
  while (select.step()) runs.push_back(read_run_row(select));
  read_listed_parts(connection, runs);
  return runs;
}

std::vector<LogEvent> read_events(Connection& connection, RunId run) {
  Statement& select = connection.kept(
      "SELECT kind, cause, line, byte_offset, steps_before, rank, operation FROM run_event"
      " WHERE run_id = ? ORDER BY position");
  select.integer(run);
  std::vector<LogEvent> events;
  while (select.step()) {
    LogEvent event;
    event.kind = select.read_text() == "finish_marker" ? LogEvent::Kind::finish_marker
                                                       : LogEvent::Kind::failure;
    event.cause = select.read_text();
    event.line = select.read_text();
    event.offset = select.read_bits();
    event.steps_before = select.read_integer();
    event.rank = select.read_optional_integer();
    event.operation = select.read_text();
    events.push_back(std::move(event));
  }
  return events;
}

void read_run_parts(Connection& connection, RunRecord& run) {
  run.configuration = read_configuration(connection, run.id);
  run.facts.segments = read_segments(connection, run.id);
  run.facts.events = read_events(connection, run.id);
  run.facts.checkpoints = read_checkpoints(connection, run.id);
  run.facts.nccl.uses = read_nccl_uses(connection, run.id);
  run.facts.ranks.measures = read_rank_measures(connection, run.id);
  run.profiles = read_profiles(connection, run.id);
}

}  // namespace llmb::storage
