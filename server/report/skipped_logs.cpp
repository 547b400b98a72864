#include "server/report/skipped_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace llmb::report {

std::string partly_read_text(const ReportedRun& run) {
  return run.flaw.empty() ? "" : fmt::format("read in part {}: {}", run.path, run.flaw);
}

void tell_skipped(const LogReport& report, std::ostream& out) {
  std::vector<std::pair<std::string_view, std::string>> told;  // by path
  for (const SkippedFile& file : report.skipped) {
    if (file.kind == SkippedFile::Kind::by_design) continue;
    told.emplace_back(file.path, fmt::format("skipped {}: {}", file.path, file.reason));
  }
  for (const ReportedRun& run : report.runs) {
    std::string text = partly_read_text(run);
    if (!text.empty()) told.emplace_back(run.path, std::move(text));
  }
  std::ranges::stable_sort(told, {}, [](const auto& entry) { return entry.first; });
  for (const auto& entry : told) out << "llmb-report: " << entry.second << '\n';
}

}  // namespace llmb::report
