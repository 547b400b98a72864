// LogReport: what `parse` found out, and the three ways to write it down. The field names of csv
// and json are those of the API; parse_output.schema.json describes the json.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "parser/layout/run_path.h"
#include "parser/log_facts.h"
#include "parser/statistics/run_metrics.h"
#include "parser/statistics/run_summary.h"
#include "parser/statistics/step_insight.h"
#include "parser/step_sample.h"
#include "server/report/log_discovery.h"

namespace llmb::report {

struct ReportedRun {
  std::string path;
  std::uint64_t size_bytes = 0;
  parser::RunPath run_path;  // its configuration includes the llmb-config's, where there is one
  parser::LogFacts facts;
  std::int64_t step_count = 0;  // all segments, those that the facts no longer list included
  std::optional<std::int64_t> global_batch_size;  // as logged
  parser::RecipeMatch match;
  parser::RunSummary summary;                 // over the window that was asked for, or chosen
  std::vector<parser::StepSample> samples;    // all, where they were asked for
  std::optional<parser::RunMetrics> metrics;  // where they were asked for
  parser::StepInsight insight;                // over all steps of the segment that counts
  std::string insight_reason;                 // why it is empty; empty where it is not

  parser::RunEvidence evidence() const {
    return {run_path.configuration, facts.dialect, global_batch_size};
  }
};

struct LogReport {
  std::vector<ReportedRun> runs;  // ordered by path
  std::vector<SkippedFile> skipped;
  const parser::Catalog* catalog = nullptr;  // what matches and metrics point into; outlives it

  std::int64_t count(parser::RunStatus status) const;
};

struct TableStyle {
  bool full_names = false;  // paths instead of <experiment>_<jobid>
  bool has_colour = false;
  bool has_metrics = false;
};

// <experiment>_<job>_<retry>: one row a log, so job and retry are part of the name; the first try
// goes without saying.
std::string short_name(const parser::RunPath& path);

void write_table(const LogReport& report, const TableStyle& style, std::ostream& out);
void write_csv(const LogReport& report, std::ostream& out);
// `has_samples`: every run carries a list `samples`, empty or not.
void write_json(const LogReport& report, bool has_samples, std::ostream& out);

}  // namespace llmb::report
