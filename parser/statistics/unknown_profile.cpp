#include "parser/statistics/unknown_profile.h"

#include <string>

namespace llmb::parser {
namespace {

constexpr std::string_view kWords =
    "profiled, and no line tells of a profiled step of the window: none is left out for it";

}  // namespace

void tell_unknown_profile(RunSummary& summary, bool is_profiled,
                          const StepInterruptionSet& without) {
  if (!is_profiled || !without.contains(StepInterruption::profile)) return;
  const std::string name(step_interruption_name(StepInterruption::profile));
  if (summary.window_interruptions.find(name + ": ") != std::string::npos) return;
  summary.status_reason += "; ";
  summary.status_reason += kWords;
}

std::string_view unknown_profile_words(const RunSummary& summary) {
  return summary.status_reason.ends_with(kWords) ? kWords : std::string_view();
}

}  // namespace llmb::parser
