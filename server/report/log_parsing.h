// Reads logs on all cores and summarises each. Memory is bounded by the steps inside the windows,
// not by the logs' sizes, unless all samples are asked for. Each log is matched to its recipe, with
// the llmb-config_<JOBID>.yaml beside it, because that says which window counts.
#pragma once

#include <optional>

#include "parser/catalog/catalog.h"
#include "parser/step_interruption.h"
#include "parser/window.h"
#include "server/report/report.h"

namespace llmb::report {

struct ParsingOptions {
  std::optional<parser::AskedWindow> window;  // else each log's own: see window_choice.h
  parser::StepInterruptionSet without;        // see JudgingOptions
  bool keeps_samples = false;
  bool judges_published = false;          // ReportedRun::published
  bool seeks_insight = false;             // ReportedRun::insight, from all steps of a log
  bool keeps_refusals = false;            // the lines that looked like a step and could not be read
  std::optional<double> tokens_to_train;  // where metrics are wanted; the catalog then says more
  // Of logs whose llmb-config and name say none, as a word of their tree; empty: not known.
  std::string gpu_type;
  // Tells which recipe a log is of; outlives the report. Null: as much of the built-in one as a log
  // needs, without references.
  const parser::Catalog* catalog = nullptr;
};

// Logs that cannot be read are in LogReport::skipped beside those that discovery left out; of those
// that were read in part their runs say so.
LogReport parse_logs(FoundLogs discovery, const ParsingOptions& options);

}  // namespace llmb::report
