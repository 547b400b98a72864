#include "parser/statistics/teardown.h"

#include "parser/dialects/failure_class.h"

namespace llmb::parser {
namespace {

// Slurm gives processes KillWait, 30 seconds unless configured.
constexpr double kTeardownS = 60;
constexpr std::int64_t kTeardownSteps = 20;  // where their time is not known

}  // namespace

bool is_teardown(std::int64_t steps_after, std::optional<double> step_time_s) {
  return step_time_s ? static_cast<double>(steps_after) * *step_time_s <= kTeardownS
                     : steps_after <= kTeardownSteps;
}

bool may_end_over(const LogEvent& event, const SegmentFacts& segment,
                  std::optional<std::int64_t> declared_last_iteration) {
  if (declared_last_iteration && segment.last_iteration >= *declared_last_iteration) return false;
  const FailureClass* const known = find_failure_class(event.cause);
  return known != nullptr && known->ends_run_over;
}

}  // namespace llmb::parser
