#include "server/report/json_cell.h"

#include "server/report/json.h"

namespace llmb::report {

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

}  // namespace llmb::report
