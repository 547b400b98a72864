// What of the logs that were named was not read, or not to its end.
#pragma once

#include <iosfwd>
#include <string>

#include "server/report/report.h"

namespace llmb::report {

// "skipped a.out: a symbolic link; …", "read in part a.out.gz: …", a line each; without what was
// left out by design, which nobody misses.
void tell_skipped(const LogReport& report, std::ostream& out);

// The same of one run; empty where its log was read to its end.
std::string partly_read_text(const ReportedRun& run);

}  // namespace llmb::report
