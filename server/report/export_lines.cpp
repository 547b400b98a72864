#include "server/report/export_lines.h"

#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "parser/step_fields.h"
#include "parser/step_interruption.h"
#include "server/report/csv_line.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

void add_cell(CsvLine& line, const Json& value) {
  if (value.is_null()) return line.add_empty();
  if (value.is_number_integer()) return line.add(value.get<std::int64_t>());
  if (value.is_number()) return line.add(value.get<double>());
  if (value.is_string()) return line.add(std::string_view(value.get_ref<const std::string&>()));
  if (!value.is_array()) return line.add(std::string_view(to_text(value)));
  std::string joined;
  for (const Json& item : value) {
    if (!joined.empty()) joined += ' ';
    joined += item.is_string() ? item.get<std::string>() : to_text(item);
  }
  line.add(std::string_view(joined));
}

template <typename T>
Json field_json(const T& value) {
  if constexpr (std::is_floating_point_v<T>) return number(value);
  return Json(value);
}
template <typename T>
Json field_json(const std::optional<T>& value) {
  return value ? field_json(*value) : Json(nullptr);
}

template <typename T>
bool is_known(const std::optional<T>& value) {
  return value.has_value();
}
bool is_known(const std::string& text) {
  return !text.empty();
}
template <typename T>
bool is_known(const T& /*value*/) {
  return true;
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

// A field that the log prints as NaN, or as infinite, is there as null.
Json step_json(const parser::StepSample& sample, bool with_unknown) {
  Json json;
  parser::for_each_step_field([&](const auto& field) {
    if (field.column == parser::StepColumn::never) return;
    const auto& value = sample.*field.member;
    if (is_known(value)) {
      json[std::string(field.name)] = field_json(value);
    } else if (with_unknown) {
      json[std::string(field.name)] = nullptr;
    }
  });
  const std::string interruptions = parser::interruption_text(sample);
  if (!interruptions.empty()) {
    json["interruptions"] = interruptions;
  } else if (with_unknown) {
    json["interruptions"] = nullptr;
  }
  return json;
}

}  // namespace

ExportLines ExportLines::of_runs(LineFormat format) {
  return {format, run_json(storage::RunRecord(), {}, {})};
}

ExportLines ExportLines::of_steps(LineFormat format) {
  return {format, step_json(parser::StepSample(), true)};
}

ExportLines::ExportLines(LineFormat format, const Json& example) : format_(format) {
  if (format_ != LineFormat::csv) return;
  for (const auto& item : example.items()) {
    if (!text_.empty()) text_ += ',';
    text_ += item.key();
  }
  text_ += "\r\n";
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
    parser::for_each_step_field([&](const auto& field) {
      if (field.column != parser::StepColumn::never) add_cell_of(line, sample.*field.member);
    });
    line.add(std::string_view(parser::interruption_text(sample)));
  }
  text_ += out.str();
}

void ExportLines::add_step(const parser::StepSample& sample) {
  if (format_ == LineFormat::csv) return add_step_row(sample);
  Json used = step_json(sample, false);
  for (const auto& [name, value] : sample.extra_fields) {
    if (!parser::is_step_mark(name)) used["extra_fields"][name] = number(value);
  }
  add_object(used);
}

}  // namespace llmb::report
