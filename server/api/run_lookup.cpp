#include "server/api/run_lookup.h"

#include <algorithm>

#include "server/api/conditional.h"

namespace llmb::api {
namespace {

// Bounds the memory of one request.
constexpr std::int64_t kStepsInWindowMax = 200'000;

// At most: what of each segment can lie in the window.
std::int64_t steps_in_window_at_most(const parser::LogFacts& facts, const parser::Window& window) {
  std::int64_t sum = 0;
  for (const parser::SegmentFacts& segment : facts.segments) {
    const std::int64_t first = std::max(segment.first_iteration, window.first_iteration);
    const std::int64_t last = std::min(segment.last_iteration, window.last_iteration);
    if (first <= last) sum += std::min(segment.step_count, last - first + 1);
  }
  return sum;
}

}  // namespace

std::string run_etag(Context& context, storage::RunId id, std::string_view question) {
  const auto revision =
      context.readers.with_reader([&](storage::Reader& reader) { return reader.run_revision(id); });
  if (!revision) throw run_not_found(id);
  return context.instance + "-run" + std::to_string(id) + "-" + std::to_string(*revision) + "-" +
         hash_text(question);
}

Refusal run_not_found(storage::RunId id) {
  return not_found("There is no run with the id " + std::to_string(id) +
                   "; GET /api/v1/runs lists those there are.");
}

parser::RunSummary summarize_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                        std::span<const parser::StepSample> samples,
                                        const parser::Window& window) {
  const bool may_still_grow = run.summary.status == parser::RunStatus::running;
  std::optional<parser::Silence> silence;
  if (run.summary.silent_s) {
    silence = {*run.summary.silent_s, parser::typical_step_time_s(reader.latest_step_times_s(
                                          run.id, parser::kTypicalSteps))};
  }
  return parser::summarize_run(samples, run.facts, window, may_still_grow, silence);
}

void refuse_long_window(const parser::LogFacts& facts, const parser::Window& window) {
  if (steps_in_window_at_most(facts, window) <= kStepsInWindowMax) return;
  throw bad_request("Window " + parser::to_string(window) + " holds more than " +
                    std::to_string(kStepsInWindowMax) + " steps of this run; ask for less.");
}

}  // namespace llmb::api
