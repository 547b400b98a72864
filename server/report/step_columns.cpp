#include "server/report/step_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "server/report/json.h"

namespace llmb::report {
namespace {

using parser::StepSample;

template <typename Field>
void add_field(JsonColumn& column, const Field& value) {
  column.add_number(value);
}
template <typename T>
void add_field(JsonColumn& column, const std::optional<T>& value) {
  if (value) {
    column.add_number(*value);
  } else {
    column.add_null();
  }
}
template <>
void add_field(JsonColumn& column, const std::int32_t& value) {
  column.add_number(std::int64_t{value});
}
template <>
void add_field(JsonColumn& column, const std::optional<std::int32_t>& value) {
  add_field(column, value ? std::optional<std::int64_t>(*value) : std::nullopt);
}
template <>
void add_field(JsonColumn& column, const std::string& value) {
  if (value.empty()) {
    column.add_null();
  } else {
    column.add_text(value);
  }
}

template <auto kField>
void add_member(JsonColumn& column, const StepSample& sample) {
  add_field(column, sample.*kField);
}

struct ColumnType {
  std::string_view name;
  void (*add)(JsonColumn&, const StepSample&);
  bool is_always_there;
};
constexpr std::array kColumns = {
    ColumnType{"segment", add_member<&StepSample::segment>, true},
    ColumnType{"iteration", add_member<&StepSample::iteration>, true},
    ColumnType{"step_time_s", add_member<&StepSample::step_time_s>, true},
    ColumnType{"tflops_per_gpu", add_member<&StepSample::tflops_per_gpu>, true},
    ColumnType{"loss", add_member<&StepSample::loss>, false},
    ColumnType{"learning_rate", add_member<&StepSample::learning_rate>, false},
    ColumnType{"grad_norm", add_member<&StepSample::grad_norm>, false},
    ColumnType{"params_norm", add_member<&StepSample::params_norm>, false},
    ColumnType{"loss_scale", add_member<&StepSample::loss_scale>, false},
    ColumnType{"consumed_samples", add_member<&StepSample::consumed_samples>, false},
    ColumnType{"global_batch_size", add_member<&StepSample::global_batch_size>, false},
    ColumnType{"skipped_iterations", add_member<&StepSample::skipped_iterations>, false},
    ColumnType{"nan_iterations", add_member<&StepSample::nan_iterations>, false},
    ColumnType{"memory_bytes_max", add_member<&StepSample::memory_bytes_max>, false},
    ColumnType{"memory_bytes_allocated", add_member<&StepSample::memory_bytes_allocated>, false},
    ColumnType{"epoch", add_member<&StepSample::epoch>, false},
    ColumnType{"global_step", add_member<&StepSample::global_step>, false},
    ColumnType{"logged_at", add_member<&StepSample::logged_at>, false},
};

template <typename T>
void append_number(std::string& text, T value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc()) text.append(digits.data(), end);
}

}  // namespace

void JsonColumn::begin_value() {
  for (; pending_nulls_ > 0; --pending_nulls_, ++rows_) text_ += rows_ > 0 ? ",null" : "null";
  if (rows_ > 0) text_ += ',';
  ++rows_;
}

void JsonColumn::add_number(double value) {
  if (!std::isfinite(value)) return add_null();
  begin_value();
  append_number(text_, value);
}

void JsonColumn::add_number(std::int64_t value) {
  begin_value();
  append_number(text_, value);
}

void JsonColumn::add_text(std::string_view text) {
  begin_value();
  text_ += to_text(Json(text));
}

void JsonColumn::append_to(std::string& document) {
  document += '[';
  document += text_;
  for (; pending_nulls_ > 0; --pending_nulls_, ++rows_) document += rows_ > 0 ? ",null" : "null";
  document += ']';
}

StepColumns::StepColumns() : columns_(kColumns.size()) {}

void StepColumns::add(const StepSample& sample) {
  for (std::size_t i = 0; i < kColumns.size(); ++i) kColumns[i].add(columns_[i], sample);
  add_extra_fields(sample);
  ++row_count_;
}

void StepColumns::add_extra_fields(const StepSample& sample) {
  for (const auto& field : sample.extra_fields) {
    const std::string& name = field.first;
    auto found = std::find_if(extra_columns_.begin(), extra_columns_.end(),
                              [&](const auto& column) { return column.first == name; });
    if (found == extra_columns_.end()) {
      if (extra_columns_.size() == kExtraFieldsMax) {
        ++extra_fields_left_out_;
        continue;
      }
      extra_columns_.emplace_back(name, JsonColumn());
      found = std::prev(extra_columns_.end());
    }
    JsonColumn& column = found->second;
    if (column.row_count() > row_count_) continue;  // the line names it twice: the first counts
    column.add_nulls(row_count_ - column.row_count());
    column.add_number(field.second);
  }
}

std::string StepColumns::finish(storage::RunId run) {
  std::string document = "{\"run_id\":" + std::to_string(run);
  // Grown step by step, a large document would be in memory two and a half times.
  std::size_t byte_count = document.size() + 4096;
  for (const JsonColumn& column : columns_) byte_count += column.byte_count();
  for (const auto& [name, column] : extra_columns_) {
    byte_count += 2 * name.size() + column.byte_count() + 5 * (row_count_ - column.row_count());
  }
  document.reserve(byte_count);
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (!columns_[i].has_values() && !kColumns[i].is_always_there) continue;
    document += ",\"";
    document += kColumns[i].name;
    document += "\":";
    columns_[i].append_to(document);
    columns_[i] = JsonColumn();
  }
  document += ",\"extra_fields\":{";
  bool is_first = true;
  for (auto& [name, column] : extra_columns_) {
    if (!column.has_values()) continue;
    column.add_nulls(row_count_ - column.row_count());
    if (!is_first) document += ',';
    is_first = false;
    document += to_text(Json(name)) + ":";
    column.append_to(document);
    column = JsonColumn();
  }
  document += "},\"extra_values_left_out\":" + std::to_string(extra_fields_left_out_) + "}";
  return document;
}

}  // namespace llmb::report
