#include "storage/step_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "parser/step_fields.h"
#include "storage/row_inserts.h"
#include "storage/step_chunks.h"

namespace llmb::storage {
namespace {

using parser::StepSample;

// "segment, iteration, …": every field of the table, as a column of step_sample.
std::string column_list() {
  std::string columns;
  parser::for_each_step_field([&](const auto& field) { columns.append(field.name).append(", "); });
  return columns + "nan_fields";
}

std::string into_clause() {
  return "INTO step_sample (run_id, " + column_list() + ")";
}

std::string values_clause() {
  std::string marks = into_clause() + " VALUES (?, ";
  parser::for_each_step_field([&](const auto&) { marks += "?, "; });
  return marks + "?)";
}

constexpr std::size_t kColumnCount = std::tuple_size_v<decltype(parser::kStepFields)> + 2;

const RowInsertSql& insert_steps_sql() {
  static const RowInsertSql sql("INSERT " + into_clause(), kColumnCount);
  return sql;
}

const std::string& insert_step_sql() {
  static const std::string sql =
      "INSERT " + values_clause() + " ON CONFLICT (run_id, segment, iteration) DO NOTHING";
  return sql;
}

const std::string& replace_step_sql() {
  static const std::string sql = put_row_sql("step_sample", 3, "run_id, " + column_list());
  return sql;
}

const std::string& select_steps_sql() {
  static const std::string sql =
      "SELECT " + column_list() +
      " FROM step_sample WHERE run_id = ? AND segment = ? AND iteration BETWEEN ? AND ?"
      " ORDER BY iteration LIMIT ?";
  return sql;
}

// SQLite keeps a NaN as NULL. Bit N of nan_fields says that the Nth of the optional reals was one.
using OptionalReal = parser::StepField<std::optional<double>>;

// Calls visit(field, bit) with each.
template <typename Visit>
void for_each_optional_real(const Visit& visit) {
  std::int64_t bit = 1;
  parser::for_each_step_field([&](const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, OptionalReal>) {
      visit(field, bit);
      bit <<= 1U;
    }
  });
}

std::int64_t nan_fields_of(const StepSample& sample) {
  std::int64_t bits = 0;
  for_each_optional_real([&](const OptionalReal& field, std::int64_t bit) {
    const std::optional<double>& value = sample.*field.member;
    if (value && std::isnan(*value)) bits |= bit;
  });
  return bits;
}

void restore_nan_fields(StepSample& sample, std::int64_t bits) {
  if (bits == 0) return;
  for_each_optional_real([&](const OptionalReal& field, std::int64_t bit) {
    if ((bits & bit) != 0) sample.*field.member = std::numeric_limits<double>::quiet_NaN();
  });
}

void bind(Statement& statement, bool value) {
  statement.boolean(value);
}
void bind(Statement& statement, std::int32_t value) {
  statement.integer(std::int64_t{value});
}
void bind(Statement& statement, std::int64_t value) {
  statement.integer(value);
}
void bind(Statement& statement, std::uint64_t value) {
  statement.bits(value);
}
void bind(Statement& statement, double value) {
  statement.real(value);
}
void bind(Statement& statement, const std::string& value) {
  value.empty() ? statement.null() : statement.borrowed_text(value);
}
void bind(Statement& statement, const std::optional<double>& value) {
  statement.real(value);
}
template <typename Integer>
void bind(Statement& statement, const std::optional<Integer>& value) {
  statement.integer(value);
}

void read(Statement& row, bool& value) {
  value = row.read_boolean();
}
void read(Statement& row, std::int32_t& value) {
  value = static_cast<std::int32_t>(row.read_integer());
}
void read(Statement& row, std::int64_t& value) {
  value = row.read_integer();
}
void read(Statement& row, std::uint64_t& value) {
  value = row.read_bits();
}
void read(Statement& row, double& value) {
  value = row.read_real();
}
void read(Statement& row, std::string& value) {
  value = row.read_text();
}
void read(Statement& row, std::optional<std::int32_t>& value) {
  const std::optional<std::int64_t> wide = row.read_optional_integer();
  value = wide ? std::optional(static_cast<std::int32_t>(*wide)) : std::nullopt;
}
void read(Statement& row, std::optional<std::int64_t>& value) {
  value = row.read_optional_integer();
}
void read(Statement& row, std::optional<double>& value) {
  value = row.read_optional_real();
}

void bind_step(Statement& statement, RunId run, const StepSample& sample) {
  statement.integer(run);
  parser::for_each_step_field([&](const auto& field) { bind(statement, sample.*field.member); });
  statement.integer(nan_fields_of(sample));
}

StepSample read_step(Statement& row) {
  StepSample sample;
  parser::for_each_step_field([&](const auto& field) { read(row, sample.*field.member); });
  restore_nan_fields(sample, row.read_integer());
  return sample;
}

void insert_fields(Connection& connection, RunId run, const StepSample& sample) {
  if (sample.extra_fields.empty()) return;
  Statement& insert = connection.kept(
      "INSERT INTO step_field (run_id, segment, iteration, position, name, value)"
      " VALUES (?,?,?,?,?,?)");
  std::int64_t position = 0;
  for (const auto& [name, value] : sample.extra_fields) {
    insert.integer(run).integer(std::int64_t{sample.segment}).integer(sample.iteration);
    insert.integer(position++).text(name).real(value).run();
  }
}

void delete_fields(Connection& connection, RunId run, const StepSample& sample) {
  connection.kept("DELETE FROM step_field WHERE run_id = ? AND segment = ? AND iteration = ?")
      .integer(run)
      .integer(std::int64_t{sample.segment})
      .integer(sample.iteration)
      .run();
}

// Adds the rows (segment, iteration, name, value) to the samples that they are of. Both are in the
// order of the key.
void take_fields(Statement& fields, std::vector<StepSample>& samples) {
  const auto key_of = [](const StepSample& sample) {
    return std::pair<std::int64_t, std::int64_t>(sample.segment, sample.iteration);
  };
  auto sample = samples.begin();
  while (fields.step()) {
    const std::int64_t segment = fields.read_integer();
    const std::pair key(segment, fields.read_integer());
    while (sample != samples.end() && key_of(*sample) < key) ++sample;
    if (sample == samples.end() || key < key_of(*sample)) continue;
    std::string name = fields.read_text();
    const std::optional<double> value = fields.read_optional_real();
    sample->extra_fields.emplace_back(std::move(name),
                                      value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
}

// So many steps are read at once: an engine may hold all rows of an answer in memory.
constexpr std::int64_t kStepsAtOnce = 4'096;

std::vector<StepSample> read_some(Connection& connection, RunId run, std::int64_t segment,
                                  const parser::Window& window) {
  Statement& steps = connection.kept(select_steps_sql());
  steps.integer(run).integer(segment);
  steps.integer(window.first_iteration).integer(window.last_iteration).integer(kStepsAtOnce);
  std::vector<StepSample> samples;
  while (steps.step()) samples.push_back(read_step(steps));
  if (samples.empty()) return samples;
  Statement& fields = connection.kept(
      "SELECT segment, iteration, name, value FROM step_field"
      " WHERE run_id = ? AND segment = ? AND iteration BETWEEN ? AND ?"
      " ORDER BY iteration, position");
  fields.integer(run).integer(segment);
  fields.integer(samples.front().iteration).integer(samples.back().iteration);
  take_fields(fields, samples);
  return samples;
}

// Those that stand in rows.
void visit_segment(Connection& connection, RunId run, std::int64_t segment, parser::Window window,
                   const StepVisitor& visit) {
  for (;;) {
    std::vector<StepSample> samples = read_some(connection, run, segment, window);
    const bool is_last = static_cast<std::int64_t>(samples.size()) < kStepsAtOnce ||
                         samples.back().iteration >= window.last_iteration;
    if (!is_last) window.first_iteration = samples.back().iteration + 1;
    for (StepSample& sample : samples) visit(std::move(sample));
    if (is_last) return;
  }
}

void insert_rows(Connection& connection, RunId run, std::span<const StepSample> samples) {
  RowInserts inserts(connection, insert_steps_sql(), samples.size());
  for (const StepSample& sample : samples) {
    bind_step(inserts.row(), run, sample);
    inserts.finish_row();
  }
  for (const StepSample& sample : samples) insert_fields(connection, run, sample);
}

void delete_rows(Connection& connection, RunId run) {
  connection.kept("DELETE FROM step_field WHERE run_id = ?").integer(run).run();
  connection.kept("DELETE FROM step_sample WHERE run_id = ?").integer(run).run();
}

void unpack(Connection& connection, RunId run, const std::vector<ChunkRange>& chunks) {
  for (const ChunkRange& chunk : chunks) {
    insert_rows(connection, run, read_chunk(connection, run, chunk));
    delete_chunk(connection, run, chunk);
  }
}

// The first `limit` steps from `from` on of those that stand in rows.
std::vector<StepSample> read_rows_from(Connection& connection, RunId run, StepKey from,
                                       std::int64_t limit) {
  static const std::string sql =
      "SELECT " + column_list() +
      " FROM step_sample WHERE run_id = ? AND (segment, iteration) >= (?, ?)"
      " ORDER BY segment, iteration LIMIT ?";
  std::vector<StepSample> samples;
  Statement& steps = connection.kept(sql);
  steps.integer(run).integer(from.segment).integer(from.iteration).integer(limit);
  while (steps.step()) samples.push_back(read_step(steps));
  if (samples.empty()) return samples;
  Statement& fields = connection.kept(
      "SELECT segment, iteration, name, value FROM step_field WHERE run_id = ?"
      " AND (segment, iteration) BETWEEN (?, ?) AND (?, ?)"
      " ORDER BY segment, iteration, position");
  fields.integer(run);
  for (const StepSample* end : {&samples.front(), &samples.back()}) {
    fields.integer(std::int64_t{end->segment}).integer(end->iteration);
  }
  take_fields(fields, samples);
  return samples;
}

// The last chunk, taken out where there is room in it, so that settling often leaves no crumbs.
std::vector<StepSample> take_unfilled_chunk(Connection& connection, RunId run) {
  const std::vector<ChunkRange> last = last_chunks(connection, run, 1);
  if (last.empty() || last.front().step_count >= static_cast<std::int64_t>(kChunkSteps)) return {};
  std::vector<StepSample> samples = read_chunk(connection, run, last.front());
  delete_chunk(connection, run, last.front());
  return samples;
}

StepKey key_of(const StepSample& sample) {
  return {sample.segment, sample.iteration};
}

// How many of them are in chunks that no step behind them joins.
std::size_t steps_of_whole_chunks(const std::vector<StepSample>& samples) {
  const auto last_segment = std::find_if(
      samples.begin(), samples.end(),
      [&](const StepSample& sample) { return sample.segment == samples.back().segment; });
  const auto before = static_cast<std::size_t>(last_segment - samples.begin());
  return before + (samples.size() - before) / kChunkSteps * kChunkSteps;
}

}  // namespace

std::int64_t upsert_steps(Connection& connection, RunId run, std::span<const StepSample> samples) {
  if (samples.empty()) return 0;
  StepKey first = kBehindAllSteps;
  for (const StepSample& sample : samples) first = std::min(first, key_of(sample));
  unpack(connection, run, chunks_from(connection, run, first));
  Statement& insert = connection.kept(insert_step_sql());
  std::int64_t new_rows = 0;
  for (const StepSample& sample : samples) {
    bind_step(insert, run, sample);
    insert.run();
    if (connection.changes() == 1) {
      ++new_rows;
    } else {
      Statement& replace = connection.kept(replace_step_sql());
      bind_step(replace, run, sample);
      replace.run();
      delete_fields(connection, run, sample);
    }
    insert_fields(connection, run, sample);
  }
  return new_rows;
}

void insert_steps(Connection& connection, RunId run, std::span<const StepSample> samples,
                  bool are_settled) {
  if (are_settled) {
    insert_chunks(connection, run, pack_chunks(samples));
  } else {
    insert_rows(connection, run, samples);
  }
}

void settle_steps(Connection& connection, RunId run) {
  if (are_settled(connection, run)) return;
  std::vector<StepSample> samples = take_unfilled_chunk(connection, run);
  StepKey from = kBeforeAllSteps;
  for (bool is_last = false; !is_last;) {
    std::vector<StepSample> rows = read_rows_from(connection, run, from, kStepsAtOnce);
    is_last = static_cast<std::int64_t>(rows.size()) < kStepsAtOnce;
    if (!rows.empty()) from = {rows.back().segment, rows.back().iteration + 1};
    samples.insert(samples.end(), std::make_move_iterator(rows.begin()),
                   std::make_move_iterator(rows.end()));
    const std::size_t count = is_last ? samples.size() : steps_of_whole_chunks(samples);
    insert_chunks(connection, run, pack_chunks(std::span(samples).first(count)));
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(count));
  }
  delete_rows(connection, run);
}

bool are_settled(Connection& connection, RunId run) {
  Statement& find = connection.kept("SELECT 1 FROM step_sample WHERE run_id = ? LIMIT 1");
  const bool has_row = find.integer(run).step();
  find.reset();
  return !has_row;
}

std::optional<RunId> next_unsettled_run(Connection& connection, RunId run) {
  Statement& find =
      connection.kept("SELECT run_id FROM step_sample WHERE run_id > ? ORDER BY run_id LIMIT 1");
  if (!find.integer(run).step()) return std::nullopt;
  const RunId next = find.read_integer();
  find.reset();
  return next;
}

std::int64_t delete_steps_from(Connection& connection, RunId run, std::uint64_t byte_offset) {
  unpack(connection, run, chunks_from_offset(connection, run, byte_offset));
  connection
      .kept(
          "DELETE FROM step_field WHERE run_id = ?1 AND (segment, iteration) IN (SELECT segment,"
          " iteration FROM step_sample WHERE run_id = ?1 AND byte_offset >= ?2)")
      .integer(run)
      .bits(byte_offset)
      .run();
  connection.kept("DELETE FROM step_sample WHERE run_id = ? AND byte_offset >= ?")
      .integer(run)
      .bits(byte_offset)
      .run();
  return connection.changes();
}

std::int64_t delete_steps_from_key(Connection& connection, RunId run, std::int64_t segment,
                                   std::int64_t iteration) {
  unpack(connection, run, chunks_from(connection, run, {segment, iteration}));
  for (const char* sql :
       {"DELETE FROM step_field WHERE run_id = ? AND (segment, iteration) >= (?, ?)",
        "DELETE FROM step_sample WHERE run_id = ? AND (segment, iteration) >= (?, ?)"}) {
    connection.kept(sql).integer(run).integer(segment).integer(iteration).run();
  }
  return connection.changes();
}

std::int64_t count_steps_before(Connection& connection, RunId run, StepKey key) {
  Statement& rows = connection.kept(
      "SELECT count(*) FROM step_sample WHERE run_id = ? AND (segment, iteration) < (?, ?)");
  rows.integer(run).integer(key.segment).integer(key.iteration);
  std::int64_t count = rows.step() ? rows.read_integer() : 0;
  rows.reset();
  for (const ChunkRange& chunk : chunks_from(connection, run, kBeforeAllSteps)) {
    if (chunk.last() < key) {
      count += chunk.step_count;
      continue;
    }
    const std::vector<StepSample> samples = read_chunk(connection, run, chunk);
    return count + std::count_if(samples.begin(), samples.end(),
                                 [&](const StepSample& sample) { return key_of(sample) < key; });
  }
  return count;
}

std::optional<StepKey> first_step_from_offset(Connection& connection, RunId run,
                                              std::uint64_t byte_offset) {
  unpack(connection, run, chunks_from_offset(connection, run, byte_offset));
  Statement& find = connection.kept(
      "SELECT segment, iteration FROM step_sample WHERE run_id = ? AND byte_offset >= ?"
      " ORDER BY segment, iteration LIMIT 1");
  if (!find.integer(run).bits(byte_offset).step()) return std::nullopt;
  StepKey key;
  key.segment = find.read_integer();
  key.iteration = find.read_integer();
  find.reset();
  return key;
}

std::vector<StepSample> read_steps_from(Connection& connection, RunId run, std::int64_t segment,
                                        std::int64_t iteration, std::int64_t limit) {
  const StepKey from{segment, iteration};
  const auto limit_size = static_cast<std::size_t>(limit);
  std::vector<StepSample> samples;
  for (const ChunkRange& chunk : chunks_from(connection, run, from)) {
    for (StepSample& sample : read_chunk(connection, run, chunk)) {
      if (samples.size() == limit_size) return samples;
      if (!(key_of(sample) < from)) samples.push_back(std::move(sample));
    }
  }
  std::vector<StepSample> rows =
      read_rows_from(connection, run, from, limit - static_cast<std::int64_t>(samples.size()));
  samples.insert(samples.end(), std::make_move_iterator(rows.begin()),
                 std::make_move_iterator(rows.end()));
  return samples;
}

void delete_steps(Connection& connection, RunId run) {
  delete_chunks(connection, run);
  delete_rows(connection, run);
}

void visit_steps(Connection& connection, RunId run, const std::optional<parser::Window>& window,
                 std::optional<std::int32_t> segment, const StepVisitor& visit) {
  using Limits = std::numeric_limits<std::int64_t>;
  const parser::Window range = window.value_or(parser::Window{Limits::min(), Limits::max()});
  for (const ChunkRange& chunk : chunks_in(connection, run, range, segment)) {
    for (StepSample& sample : read_chunk(connection, run, chunk)) {
      if (range.contains(sample.iteration)) visit(std::move(sample));
    }
  }
  if (segment) {
    visit_segment(connection, run, *segment, range, visit);
    return;
  }
  // The segments are found by seeking in the key, not by reading the rows between them.
  std::int64_t last = Limits::min();
  for (;;) {
    Statement& find = connection.kept(
        "SELECT segment FROM step_sample WHERE run_id = ? AND segment > ? ORDER BY segment LIMIT "
        "1");
    find.integer(run).integer(last);
    if (!find.step()) break;
    last = find.read_integer();
    find.reset();
    visit_segment(connection, run, last, range, visit);
  }
}

std::vector<double> latest_step_times_s(Connection& connection, RunId run, std::int64_t count) {
  Statement& steps = connection.kept(
      "SELECT step_time_s FROM step_sample WHERE run_id = ?"
      " ORDER BY segment DESC, iteration DESC LIMIT ?");
  steps.integer(run).integer(count);
  std::vector<double> times_s;
  std::int64_t left = count;
  for (; steps.step(); --left) {
    if (const auto time_s = steps.read_optional_real()) times_s.push_back(*time_s);
  }
  if (left == 0) return times_s;
  for (const ChunkRange& chunk : last_chunks(connection, run, left)) {
    const std::vector<StepSample> samples = read_chunk(connection, run, chunk);
    for (auto sample = samples.rbegin(); sample != samples.rend() && left > 0; ++sample, --left) {
      if (sample->step_time_s) times_s.push_back(*sample->step_time_s);
    }
    if (left == 0) break;
  }
  return times_s;
}

}  // namespace llmb::storage
