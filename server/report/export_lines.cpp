#include "server/report/export_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "parser/step_fields.h"
#include "parser/step_interruption.h"
#include "server/report/csv_line.h"
#include "server/report/json.h"
#include "server/report/json_cell.h"

namespace llmb::report {
namespace {

constexpr const char* kInterruptions = "interruptions";

template <typename T>
void set_known(Json& json, std::string_view name, const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    json[std::string(name)] = number(value);
  } else {
    json[std::string(name)] = value;
  }
}
void set_known(Json& json, std::string_view name, const std::string& text) {
  if (!text.empty()) json[std::string(name)] = text;
}
template <typename T>
void set_known(Json& json, std::string_view name, const std::optional<T>& value) {
  if (value) set_known(json, name, *value);
}

template <typename T>
void add_cell_of(CsvLine& line, const T& value) {
  if constexpr (std::is_integral_v<T>) {
    line.add(static_cast<std::int64_t>(value));
  } else {
    line.add(value);
  }
}
template <typename T>
void add_cell_of(CsvLine& line, const std::optional<T>& value) {
  value ? add_cell_of(line, *value) : line.add_empty();
}

template <typename Visit>
void for_each_exported_field(Visit visit) {
  parser::for_each_step_field([&](const auto& field) {
    if (field.column != parser::StepColumn::never) visit(field);
  });
}

// A field that the log prints as NaN, or as infinite, is there as null.
Json step_json(const parser::StepSample& sample) {
  Json json;
  for_each_exported_field(
      [&](const auto& field) { set_known(json, field.name, sample.*field.member); });
  const std::string interruptions = parser::interruption_text(sample);
  if (!interruptions.empty()) json[kInterruptions] = interruptions;
  return json;
}

}  // namespace

ExportLines ExportLines::of_runs(LineFormat format) {
  const Json example = run_json(storage::RunRecord(), {}, {});
  std::vector<std::string> names;
  for (const auto& item : example.items()) names.push_back(item.key());
  return {format, names};
}

ExportLines ExportLines::of_steps(LineFormat format) {
  std::vector<std::string> names;
  for_each_exported_field([&](const auto& field) { names.emplace_back(field.name); });
  names.emplace_back(kInterruptions);
  return {format, names};
}

ExportLines::ExportLines(LineFormat format, const std::vector<std::string>& names)
    : format_(format) {
  if (format_ == LineFormat::csv) text_ = fmt::format("{}\r\n", fmt::join(names, ","));
}

void ExportLines::add_object(const Json& object) {
  ++line_count_;
  if (format_ == LineFormat::ndjson) {
    text_ += to_text(object);
    text_ += '\n';
    return;
  }
  std::ostringstream out;
  {
    CsvLine line(out);
    for (const Json& value : object) add_cell(line, value);
  }
  text_ += out.str();
}

void ExportLines::add_run(const storage::RunRecord& run, const RootPaths& roots,
                          std::optional<storage::RunId> original) {
  add_object(run_json(run, roots, original));
}

// Not by way of JSON, which has neither NaN nor infinity.
void ExportLines::add_step_row(const parser::StepSample& sample) {
  ++line_count_;
  std::ostringstream out;
  {
    CsvLine line(out);
    for_each_exported_field([&](const auto& field) { add_cell_of(line, sample.*field.member); });
    line.add(std::string_view(parser::interruption_text(sample)));
  }
  text_ += out.str();
}

void ExportLines::add_step(const parser::StepSample& sample) {
  if (format_ == LineFormat::csv) return add_step_row(sample);
  Json used = step_json(sample);
  for (const auto& [name, value] : sample.extra_fields) {
    if (!parser::is_step_mark(name)) used["extra_fields"][name] = number(value);
  }
  add_object(used);
}

}  // namespace llmb::report
