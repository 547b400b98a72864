#include "parser/statistics/first_cause.h"

namespace llmb::parser {

void FirstCause::offer(const LogEvent& failure) {
  if (is_over_) return;
  const FailureClass* known = find_failure_class(failure.cause);
  const CauseDepth depth = known == nullptr ? CauseDepth::consequence : known->depth;
  if (known != nullptr && known->ends_run_over) {
    if (chosen_ != nullptr && depth_ < *known->ends_run_over) return;
    chosen_ = &failure;
    is_over_ = true;
    return;
  }
  if (chosen_ != nullptr && depth >= depth_) return;
  chosen_ = &failure;
  depth_ = depth;
}

}  // namespace llmb::parser
