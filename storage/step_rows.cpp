#include "storage/step_rows.h"

#include <array>
#include <cmath>
#include <limits>

namespace llmb::storage {
namespace {

using parser::StepSample;

constexpr const char* kInsertStep =
    "INSERT INTO step_sample (run_id, segment, iteration, iteration_is_logged, epoch, global_step,"
    " step_time_s, step_time_resolution_s, tflops_per_gpu, loss, learning_rate, grad_norm,"
    " params_norm, loss_scale, consumed_samples, global_batch_size, skipped_iterations,"
    " nan_iterations, memory_bytes_max, memory_bytes_allocated, logged_at, byte_offset, nan_fields)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    " ON CONFLICT (run_id, segment, iteration) DO NOTHING";

constexpr const char* kReplaceStep =
    "REPLACE INTO step_sample (run_id, segment, iteration, iteration_is_logged, epoch, global_step,"
    " step_time_s, step_time_resolution_s, tflops_per_gpu, loss, learning_rate, grad_norm,"
    " params_norm, loss_scale, consumed_samples, global_batch_size, skipped_iterations,"
    " nan_iterations, memory_bytes_max, memory_bytes_allocated, logged_at, byte_offset, nan_fields)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr const char* kSelectSteps =
    "SELECT segment, iteration, iteration_is_logged, epoch, global_step, step_time_s,"
    " step_time_resolution_s, tflops_per_gpu, loss, learning_rate, grad_norm, params_norm,"
    " loss_scale, consumed_samples, global_batch_size, skipped_iterations, nan_iterations,"
    " memory_bytes_max, memory_bytes_allocated, logged_at, byte_offset, nan_fields"
    " FROM step_sample WHERE run_id = ? AND segment = ? AND iteration BETWEEN ? AND ?"
    " ORDER BY iteration";

// Bit N of nan_fields stands for the Nth of these. The order is part of the stored data: add new
// fields at the end only.
using RealField = std::optional<double> StepSample::*;
constexpr std::array<RealField, 9> kNanFields = {
    &StepSample::step_time_s,   &StepSample::tflops_per_gpu,   &StepSample::loss,
    &StepSample::learning_rate, &StepSample::grad_norm,        &StepSample::params_norm,
    &StepSample::loss_scale,    &StepSample::memory_bytes_max, &StepSample::memory_bytes_allocated,
};

std::int64_t nan_fields_of(const StepSample& sample) {
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < kNanFields.size(); ++i) {
    const std::optional<double>& value = sample.*kNanFields[i];
    if (value && std::isnan(*value)) bits |= std::int64_t{1} << i;
  }
  return bits;
}

void restore_nan_fields(StepSample& sample, std::int64_t bits) {
  for (std::size_t i = 0; bits != 0 && i < kNanFields.size(); ++i) {
    if ((bits >> i & 1) != 0) sample.*kNanFields[i] = std::numeric_limits<double>::quiet_NaN();
  }
}

void bind_step(Statement& statement, RunId run, const StepSample& sample) {
  statement.integer(run).integer(std::int64_t{sample.segment}).integer(sample.iteration);
  statement.boolean(sample.iteration_is_logged);
  statement.integer(sample.epoch).integer(sample.global_step);
  statement.real(sample.step_time_s).real(sample.step_time_resolution_s);
  statement.real(sample.tflops_per_gpu).real(sample.loss).real(sample.learning_rate);
  statement.real(sample.grad_norm).real(sample.params_norm).real(sample.loss_scale);
  statement.integer(sample.consumed_samples).integer(sample.global_batch_size);
  statement.integer(sample.skipped_iterations).integer(sample.nan_iterations);
  statement.real(sample.memory_bytes_max).real(sample.memory_bytes_allocated);
  if (sample.logged_at.empty()) {
    statement.null();
  } else {
    statement.text(sample.logged_at);
  }
  statement.bits(sample.byte_offset).integer(nan_fields_of(sample));
}

std::optional<std::int32_t> narrow(std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

StepSample read_step(Statement& row) {
  StepSample sample;
  sample.segment = static_cast<std::int32_t>(row.read_integer());
  sample.iteration = row.read_integer();
  sample.iteration_is_logged = row.read_boolean();
  sample.epoch = narrow(row.read_optional_integer());
  sample.global_step = row.read_optional_integer();
  sample.step_time_s = row.read_optional_real();
  sample.step_time_resolution_s = row.read_real();
  sample.tflops_per_gpu = row.read_optional_real();
  sample.loss = row.read_optional_real();
  sample.learning_rate = row.read_optional_real();
  sample.grad_norm = row.read_optional_real();
  sample.params_norm = row.read_optional_real();
  sample.loss_scale = row.read_optional_real();
  sample.consumed_samples = row.read_optional_integer();
  sample.global_batch_size = row.read_optional_integer();
  sample.skipped_iterations = row.read_optional_integer();
  sample.nan_iterations = row.read_optional_integer();
  sample.memory_bytes_max = row.read_optional_real();
  sample.memory_bytes_allocated = row.read_optional_real();
  sample.logged_at = row.read_text();
  sample.byte_offset = row.read_bits();
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

// Both cursors run in the order of the key, so one pass hands each sample its fields.
void visit_segment(Connection& connection, RunId run, std::int64_t segment,
                   const parser::Window& window, const StepVisitor& visit) {
  Statement& fields = connection.kept(
      "SELECT iteration, name, value FROM step_field"
      " WHERE run_id = ? AND segment = ? AND iteration BETWEEN ? AND ?"
      " ORDER BY iteration, position");
  fields.integer(run).integer(segment);
  fields.integer(window.first_iteration).integer(window.last_iteration);
  bool has_field = fields.step();
  std::int64_t field_iteration = has_field ? fields.read_integer() : 0;

  Statement& steps = connection.kept(kSelectSteps);
  steps.integer(run).integer(segment);
  steps.integer(window.first_iteration).integer(window.last_iteration);
  while (steps.step()) {
    StepSample sample = read_step(steps);
    while (has_field && field_iteration <= sample.iteration) {
      std::string name = fields.read_text();
      const std::optional<double> value = fields.read_optional_real();
      if (field_iteration == sample.iteration) {
        sample.extra_fields.emplace_back(std::move(name),
                                         value.value_or(std::numeric_limits<double>::quiet_NaN()));
      }
      has_field = fields.step();
      if (has_field) field_iteration = fields.read_integer();
    }
    visit(std::move(sample));
  }
  fields.reset();
}

}  // namespace

std::int64_t upsert_steps(Connection& connection, RunId run, std::span<const StepSample> samples) {
  if (samples.empty()) return 0;
  Statement& insert = connection.kept(kInsertStep);
  std::int64_t new_rows = 0;
  for (const StepSample& sample : samples) {
    bind_step(insert, run, sample);
    insert.run();
    if (connection.changes() == 1) {
      ++new_rows;
    } else {
      Statement& replace = connection.kept(kReplaceStep);
      bind_step(replace, run, sample);
      replace.run();
      delete_fields(connection, run, sample);
    }
    insert_fields(connection, run, sample);
  }
  return new_rows;
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
