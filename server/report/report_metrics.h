// What `parse --metrics` adds to a report: each run's recipe and derived metrics.
#pragma once

#include "server/report/report.h"

namespace llmb::report {

// The report's catalog holds references.
void add_metrics(LogReport& report);

}  // namespace llmb::report
