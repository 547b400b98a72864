// Runs and steps for other programs, one a line: as CSV (csv_line.h), and as NDJSON, one JSON
// object a line. Runs have the keys of the API's list in both; a list within is joined by spaces in
// CSV.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/step_sample.h"
#include "server/report/json_fwd.h"
#include "server/report/run_json.h"
#include "storage/records.h"

namespace llmb::report {

enum class LineFormat { csv, ndjson };

class ExportLines {
 public:
  // CSV has its header from the start, so that it has one where no line follows.
  static ExportLines of_runs(LineFormat format);
  static ExportLines of_steps(LineFormat format);

  void add_run(const storage::RunRecord& run, const RootPaths& roots,
               std::optional<storage::RunId> original);
  // CSV has the fields that every log may have; NDJSON those that the step has, the log's own too,
  // of which JSON has null for NaN and infinity.
  void add_step(const parser::StepSample& sample);

  std::size_t line_count() const { return line_count_; }
  // The lines since it was called last.
  const std::string& text() const { return text_; }
  void forget_text() { text_.clear(); }

 private:
  // `names`: of the columns of all lines.
  ExportLines(LineFormat format, const std::vector<std::string>& names);
  void add_object(const Json& object);
  void add_step_row(const parser::StepSample& sample);

  const LineFormat format_;
  std::string text_;
  std::size_t line_count_ = 0;
};

}  // namespace llmb::report
