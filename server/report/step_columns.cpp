#include "server/report/step_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <tuple>

#include "parser/step_fields.h"
#include "parser/step_interruption.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

using parser::StepColumn;
using parser::StepSample;

void add_field(JsonColumn& column, double value) {
  column.add_number(value);
}
template <std::integral Integer>
void add_field(JsonColumn& column, Integer value) {
  column.add_number(static_cast<std::int64_t>(value));
}
void add_field(JsonColumn& column, const std::string& value) {
  if (value.empty()) {
    column.add_null();
  } else {
    column.add_text(value);
  }
}
template <typename T>
void add_field(JsonColumn& column, const std::optional<T>& value) {
  if (value) {
    add_field(column, *value);
  } else {
    column.add_null();
  }
}

constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(parser::kStepFields)>;

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

void JsonColumn::pack(const TextPacking& packing) {
  constexpr std::size_t kPackedFromBytes = 8'192;
  if (text_.size() < kPackedFromBytes) return;
  packed_.push_back(packing.pack(text_));
  packed_.back().shrink_to_fit();
  text_.clear();
}

void JsonColumn::write(const TextPacking& packing,
                       const std::function<void(std::string_view)>& sink) const {
  sink("[");
  for (const std::string& text : packed_) sink(packing.unpack(text));
  sink(text_);
  for (std::size_t row = rows_; row < row_count(); ++row) sink(row > 0 ? ",null" : "null");
  sink("]");
}

StepColumns::StepColumns(TextPacking packing)
    : packing_(std::move(packing)), columns_(kFieldCount) {}

void StepColumns::add(const StepSample& sample) {
  auto column = columns_.begin();
  parser::for_each_step_field([&](const auto& field) {
    if (field.column != StepColumn::never) add_field(*column, sample.*field.member);
    ++column;
  });
  add_field(interruptions_, parser::interruption_text(sample));
  add_extra_fields(sample);
  ++row_count_;
  if (row_count_ % kRowsPacked == 0) pack();
}

void StepColumns::pack() {
  for (JsonColumn& column : columns_) column.pack(packing_);
  interruptions_.pack(packing_);
  for (auto& [name, column] : extra_columns_) column.pack(packing_);
}

void StepColumns::add_extra_fields(const StepSample& sample) {
  for (const auto& field : sample.extra_fields) {
    const std::string& name = field.first;
    if (parser::is_step_mark(name)) continue;
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

void StepColumns::write(storage::RunId run, const std::function<void(std::string_view)>& sink) && {
  sink(fmt::format("{{\"run_id\":{}", run));
  const auto give = [&](std::string_view before, std::string_view name, JsonColumn& column) {
    sink(before);
    sink(to_text(Json(name)));
    sink(":");
    column.write(packing_, sink);
    column = JsonColumn();
  };
  auto next = columns_.begin();
  parser::for_each_step_field([&](const auto& field) {
    if (field.column == StepColumn::always || next->has_values()) give(",", field.name, *next);
    ++next;
  });
  if (interruptions_.has_values()) give(",", "interruptions", interruptions_);
  sink(",\"extra_fields\":{");
  bool is_first = true;
  for (auto& [name, column] : extra_columns_) {
    if (!column.has_values()) continue;
    column.add_nulls(row_count_ - column.row_count());
    give(is_first ? "" : ",", name, column);
    is_first = false;
  }
  sink(fmt::format("}},\"extra_values_left_out\":{}}}", extra_fields_left_out_));
}

}  // namespace llmb::report
