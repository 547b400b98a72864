#include "server/push/step_rows_json.h"

#include <string>

#include "parser/step_fields.h"
#include "server/push/json_fields.h"

namespace llmb::push {
namespace {

using parser::StepSample;

Json columns_json() {
  Json names = Json::array();
  parser::for_each_step_field([&](const auto& field) { names.push_back(std::string(field.name)); });
  return names;
}

Json row_json(const StepSample& step) {
  Json row = Json::array();
  parser::for_each_step_field(
      [&](const auto& field) { row.push_back(value_json(step.*field.member)); });
  for (const auto& [name, value] : step.extra_fields) {
    row.push_back(text_json(name));
    row.push_back(real_json(value));
  }
  return row;
}

StepSample read_row(const Json& row, std::size_t column_count) {
  if (!row.is_array() || row.size() < column_count || (row.size() - column_count) % 2 != 0) {
    refuse_field("steps", "a value for each column, and pairs behind them");
  }
  StepSample step;
  std::size_t column = 0;
  parser::for_each_step_field([&](const auto& field) {  // their names are literals
    read_value(row[column++], field.name.data(), step.*field.member);
  });
  for (std::size_t i = column; i < row.size(); i += 2) {
    step.extra_fields.emplace_back(read_text(row[i], "steps"), read_real(row[i + 1], "steps"));
  }
  return step;
}

}  // namespace

Json steps_json(const std::vector<StepSample>& steps) {
  Json rows = Json::array();
  for (const StepSample& step : steps) rows.push_back(row_json(step));
  return {{"columns", columns_json()}, {"rows", std::move(rows)}};
}

std::vector<StepSample> read_steps(const Json& json) {
  const JsonFields fields(json, "steps");
  const Json columns = columns_json();
  if (fields.array("columns") != columns) {
    refuse_field("columns", "those of this program, in its order");
  }
  std::vector<StepSample> steps;
  for (const Json& row : fields.array("rows")) steps.push_back(read_row(row, columns.size()));
  return steps;
}

}  // namespace llmb::push
