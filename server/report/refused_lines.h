// The lines of a log that looked like a step, or like another line that is wanted, and could not be
// read as one: what `parse --explain` tells.
#pragma once

#include <iosfwd>
#include <vector>

#include "parser/reader/log_reader.h"
#include "server/report/report.h"

namespace llmb::report {

// Reads `file` again, up to the last of the samples, because the reader counts bytes, not lines.
std::vector<Refusals> located_refusals(const std::vector<parser::RefusedLines>& lines, int file);

// One paragraph for each log that has any. Logs are named as in the table.
void write_refusals(const LogReport& report, bool full_names, std::ostream& out);

}  // namespace llmb::report
