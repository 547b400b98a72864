#include "parser/statistics/first_cause.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "parser/dialects/line_weight.h"

namespace llmb::parser {
namespace {

bool was_logged_as_warning(const LogEvent& failure) {
  return weight_of(failure.line) != LineWeight::statement;
}

// A row of torchrun's table: "traceback : Signal 9 (SIGKILL) received by PID 123". Its own SIGTERM
// is how torchrun ends the other workers.
bool names_the_signal_of_a_worker(const LogEvent& failure) {
  return failure.line.find(") received by PID") != std::string::npos &&
         failure.line.find("SIGTERM") == std::string::npos;
}

// "ValueError: …": a rank's own words, which do not tell of other ranks.
bool is_own_exception(const LogEvent& failure) {
  if (failure.cause != "python_exception") return false;
  constexpr std::array<std::string_view, 5> kOfOthers = {"istributed", "NCCL", "loo", "Store",
                                                         "Rendezvous"};
  return std::none_of(kOfOthers.begin(), kOfOthers.end(), [&](std::string_view word) {
    return failure.line.find(word) != std::string::npos;
  });
}

}  // namespace

CauseDepth depth_of(const LogEvent& failure) {
  const FailureClass* known = find_failure_class(failure.cause);
  if (known == nullptr) return CauseDepth::consequence;
  if (known->depth < CauseDepth::survivable && was_logged_as_warning(failure))
    return CauseDepth::survivable;
  if (known->depth == CauseDepth::killed && names_the_signal_of_a_worker(failure)) {
    return CauseDepth::worker_signal;
  }
  return known->depth;
}

bool announces_end(const LogEvent& failure) {
  const FailureClass* known = find_failure_class(failure.cause);
  if (known == nullptr || was_logged_as_warning(failure)) return false;
  if (known->ends_run_over) return true;
  return known->depth == CauseDepth::worker_failed || known->depth == CauseDepth::killed ||
         known->depth == CauseDepth::consequence;
}

void FirstCause::offer(const LogEvent& failure) {
  if (is_over_) return;
  const FailureClass* known = find_failure_class(failure.cause);
  const CauseDepth depth = depth_of(failure);
  if (known != nullptr && known->ends_run_over && depth != CauseDepth::survivable) {
    const bool is_teardown =
        chosen_ != nullptr && depth_ < *known->ends_run_over && depth_ != CauseDepth::survivable;
    if (is_teardown) return;
    chosen_ = &failure;
    is_over_ = true;
    return;
  }
  if (chosen_ != nullptr && depth >= depth_) return;
  // That others lost it follows from what ended the rank.
  if (depth == CauseDepth::peer_lost && chosen_ != nullptr && is_own_exception(*chosen_)) return;
  chosen_ = &failure;
  depth_ = depth;
}

}  // namespace llmb::parser
