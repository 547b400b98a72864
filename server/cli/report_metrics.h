// What `parse --metrics` adds to a report: each run's recipe and derived metrics.
#pragma once

#include "server/cli/report.h"

namespace llmb::cli {

// The report's catalog holds references.
void add_metrics(Report& report);

}  // namespace llmb::cli
