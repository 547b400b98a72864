// Agreement: what each of the tools that people already use would report for a log, and why that
// differs from our result. The tools are data: window, deviation, and what they ask of a log.
// Told from the steps that we read: a log's file name, and bytes that break a tool's own
// reading of a line, are not considered (see server/compat for the two shell parsers to the byte).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser/log_facts.h"
#include "parser/statistics/agreement_tools.h"
#include "parser/statistics/run_summary.h"
#include "parser/step_sample.h"

namespace llmb::parser {

struct ToolResult {
  std::string tool;     // "NeMo shell parser"
  std::string release;  // "25.08 to 26.05"
  std::string source;   // the script that does it
  std::string metric;   // the text from which it takes the step time
  std::string rule;     // when it gives numbers
  std::string window;   // "35-44", "last 10 steps"
  DeviationKind deviation = DeviationKind::none;
  bool reads_such_logs = false;  // it knows the program that wrote the log
  bool gives_result = false;
  // Why it gives no result; where it gives one, why something of it is missing. May be empty.
  std::string reason;
  // False where the tool reads other lines than our steps, which agree to its printed digits only.
  bool is_exact = true;
  std::int64_t step_count = 0;
  std::optional<double> step_time_s_mean;
  std::optional<double> step_time_s_std;
  std::optional<double> tflops_per_gpu_mean;
  std::optional<double> difference_to_ours;  // of the means of the step time: 0.01 is 1 % longer
  std::string why;                           // the differences in words; never empty
};

// In a fixed order, every known tool, those included that cannot read such a log. `samples`: all
// of the log, ordered by (segment, iteration). `ours`: over any window.
std::vector<ToolResult> compute_agreement(std::span<const StepSample> samples,
                                          const LogFacts& facts, const RunSummary& ours);

}  // namespace llmb::parser
