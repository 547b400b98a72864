#include "parser/statistics/time_source.h"

#include "parser/statistics/status_reason.h"

namespace llmb::parser {

std::optional<std::string_view> time_source(const RunSummary& summary) {
  if (!summary.step_time_s) return std::nullopt;
  const bool is_from_rates = summary.status_reason.find(kTimesFromRates) != std::string::npos;
  return is_from_rates ? "rate" : "printed";
}

}  // namespace llmb::parser
