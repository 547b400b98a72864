// LogReport: what `parse` found out, and the three ways to write it down. The field names of csv
// and json are those of the API; parse_output.schema.json describes the json.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/dialects/line_refusal.h"
#include "parser/layout/run_path.h"
#include "parser/log_facts.h"
#include "parser/statistics/judge_run.h"
#include "parser/statistics/step_insight.h"
#include "parser/statistics/step_scatter.h"
#include "parser/step_sample.h"
#include "server/report/log_discovery.h"

namespace llmb::report {

// Lines that looked like a step, or like another line that is wanted, and could not be read.
struct RefusedSample {
  std::optional<std::int64_t> line_number;  // from 1; nothing where the log cannot be read again
  std::string text;                         // made safe by parser::safe_text()
};

struct Refusals {
  parser::LineRefusal reason = parser::LineRefusal::iteration_not_read;
  std::int64_t count = 0;
  std::vector<RefusedSample> samples;
};

struct ReportedRun {
  std::string path;
  std::uint64_t size_bytes = 0;
  // Of a log whose lines came joined with others' (joined_logs.h): fnv1a of its text.
  std::optional<std::uint64_t> text_hash;
  parser::RunPath run_path;  // its configuration includes the llmb-config's, where there is one
  parser::LogFacts facts;
  std::int64_t step_count = 0;  // all segments, those that the facts no longer list included
  std::optional<SkippedFile> unread_config;  // its llmb-config, where that could not be read
  std::string flaw;             // of a log that was read in part: why, see LogSource::flaw()
  bool is_profiled = false;     // profiles lie beside the log, or its name or configuration says so
  parser::Judgement judgement;  // with metrics where they were asked for
  // Over the log's own window and with every step, where that was asked for and is something else.
  std::optional<parser::Judgement> published;
  std::vector<parser::StepSample> samples;          // all, where they were asked for
  std::vector<Refusals> refusals;                   // where they were asked for
  std::optional<parser::SteadySteps> steady_steps;  // as in parser::ComparedRun
  parser::StepInsight insight;  // over all steps of the segment that counts, if sought
  std::string insight_reason;   // why it is empty; empty where it is not
};

struct LogReport {
  std::vector<ReportedRun> runs;     // ordered by path
  std::vector<SkippedFile> skipped;  // ordered by path
  OtherFiles others;                 // as discovery found them
  bool has_samples = false;          // as they were asked for
  bool has_metrics = false;
  bool has_refusals = false;

  std::int64_t count(parser::RunStatus status) const;
};

// Why a run is no performance result, beside its status: profiled, traced, proxy …
std::vector<std::string_view> mark_names(const ReportedRun& run);
std::string marks_text(const ReportedRun& run);  // "profiled, traced"

struct TableStyle {
  bool full_names = false;  // paths instead of <experiment>_<jobid>
  bool has_colour = false;
};

// <experiment>_<job>_<retry>: one row a log, so job and retry are part of the name; the first try
// goes without saying.
std::string short_name(const parser::RunPath& path);
// That for each run, safe to print; or its path where full names are wanted, where the path says
// nothing else, and where another run has the same name (run.log in every folder).
std::vector<std::string> shown_names(const LogReport& report, bool full_names);

void write_table(const LogReport& report, const TableStyle& style, std::ostream& out);
void write_csv(const LogReport& report, std::ostream& out);
void write_json(const LogReport& report, std::ostream& out);

}  // namespace llmb::report
