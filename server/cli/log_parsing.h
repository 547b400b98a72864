// Reads logs on all cores and summarises each. Memory is bounded by the steps inside the windows,
// not by the logs' sizes, unless all samples are asked for.
#pragma once

#include <optional>

#include "parser/statistics/window.h"
#include "server/cli/report.h"

namespace llmb::cli {

struct ParsingOptions {
  std::optional<parser::Window> window;  // else each dialect's own
  bool keeps_samples = false;
  // Looks for llmb-config_<JOBID>.yaml beside each log.
  bool reads_llmb_config = false;
};

// Logs that cannot be read end in Report::skipped beside those that discovery left out.
Report parse_logs(Discovery discovery, const ParsingOptions& options);

}  // namespace llmb::cli
