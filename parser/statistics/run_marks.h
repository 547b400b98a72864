// RunMark: why a run is no performance result like others, and is left out of comparisons unless
// it is asked for.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/recipe_match.h"
#include "parser/result.h"
#include "parser/statistics/derived_metrics.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {

enum class RunMark {
  profiled,
  traced,
  function_check,
  proxy,
  on_cpu,
  implausible,
  running,
  incomplete,
  failed,
  invalid,
  no_data,
  superseded,
};
std::string_view run_mark_name(RunMark mark);

using RunMarkSet = std::set<RunMark>;

// "profiled,failed", "all", or "" for none. Error: what is allowed.
Result<RunMarkSet> parse_run_marks(std::string_view text);
std::string run_mark_names();  // "profiled, traced, …, all"

struct RunMarkReason {
  RunMark mark = RunMark::incomplete;
  std::string reason;  // one sentence
};

struct RunCondition {
  const RunSummary& summary;
  const RunConfiguration& configuration;
  bool has_profiles = false;  // files beside the log, or its configuration says so
  bool nccl_trace_seen = false;
  bool is_proxy = false;  // RecipeMatch::is_proxy()
  bool is_superseded = false;
  const DerivedMetrics* metrics = nullptr;  // null: nothing was measured
};

// Whether an NCCL trace slowed the run: its log holds one, or its name or folder says so.
bool is_traced(bool nccl_trace_seen, const RunConfiguration& configuration);

std::vector<RunMarkReason> marks_of(const RunCondition& run);

// Why the run is left out where only `included` marks are asked for; empty: it is in. A run
// without a step time or a rate of tokens in its window is never in.
std::string exclusion_reason(const std::vector<RunMarkReason>& marks, const RunMarkSet& included);

}  // namespace llmb::parser
