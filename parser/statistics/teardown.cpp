#include "parser/statistics/teardown.h"

#include <algorithm>

#include "parser/dialects/failure_class.h"

namespace llmb::parser {
namespace {

// Slurm gives processes KillWait, 30 seconds unless configured.
constexpr double kTeardownS = 60;
constexpr std::int64_t kTeardownSteps = 20;  // where their time is not known

// How many iterations a logged step stands for.
std::int64_t log_interval(const SegmentFacts& segment) {
  if (segment.step_count < 2) return 1;
  const std::int64_t iterations = segment.last_iteration - segment.first_iteration;
  return std::max<std::int64_t>(1, iterations / (segment.step_count - 1));
}

}  // namespace

bool is_teardown(std::int64_t logged_after, const SegmentFacts& segment,
                 std::optional<double> step_time_s) {
  const std::int64_t steps_after = logged_after * log_interval(segment);
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
