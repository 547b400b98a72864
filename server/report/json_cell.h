// A value as JSON has it, as a cell of a CSV line: empty for null, a list joined by spaces.
#pragma once

#include "server/report/csv_line.h"
#include "server/report/json_fwd.h"

namespace llmb::report {

void add_cell(CsvLine& line, const Json& value);

}  // namespace llmb::report
