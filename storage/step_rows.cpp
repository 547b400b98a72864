#include "storage/step_rows.h"

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "parser/step_fields.h"
#include "storage/row_inserts.h"

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

}  // namespace

std::int64_t upsert_steps(Connection& connection, RunId run, std::span<const StepSample> samples) {
  if (samples.empty()) return 0;
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

void insert_steps(Connection& connection, RunId run, std::span<const StepSample> samples) {
  RowInserts inserts(connection, insert_steps_sql(), samples.size());
  for (const StepSample& sample : samples) {
    bind_step(inserts.row(), run, sample);
    inserts.finish_row();
  }
  for (const StepSample& sample : samples) insert_fields(connection, run, sample);
}

std::int64_t delete_steps_from(Connection& connection, RunId run, std::uint64_t byte_offset) {
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
  for (const char* sql :
       {"DELETE FROM step_field WHERE run_id = ? AND (segment, iteration) >= (?, ?)",
        "DELETE FROM step_sample WHERE run_id = ? AND (segment, iteration) >= (?, ?)"}) {
    connection.kept(sql).integer(run).integer(segment).integer(iteration).run();
  }
  return connection.changes();
}

std::vector<StepSample> read_steps_from(Connection& connection, RunId run, std::int64_t segment,
                                        std::int64_t iteration, std::int64_t limit) {
  static const std::string sql =
      "SELECT " + column_list() +
      " FROM step_sample WHERE run_id = ? AND (segment, iteration) >= (?, ?)"
      " ORDER BY segment, iteration LIMIT ?";
  std::vector<StepSample> samples;
  Statement& steps = connection.kept(sql);
  steps.integer(run).integer(segment).integer(iteration).integer(limit);
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

void delete_steps(Connection& connection, RunId run) {
  connection.kept("DELETE FROM step_field WHERE run_id = ?").integer(run).run();
  connection.kept("DELETE FROM step_sample WHERE run_id = ?").integer(run).run();
}

void visit_steps(Connection& connection, RunId run, const std::optional<parser::Window>& window,
                 std::optional<std::int32_t> segment, const StepVisitor& visit) {
  using Limits = std::numeric_limits<std::int64_t>;
  const parser::Window range = window.value_or(parser::Window{Limits::min(), Limits::max()});
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
  while (steps.step()) {
    if (const auto time_s = steps.read_optional_real()) times_s.push_back(*time_s);
  }
  return times_s;
}

}  // namespace llmb::storage
