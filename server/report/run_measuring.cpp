#include "server/report/run_measuring.h"

#include <algorithm>
#include <string>

#include "parser/statistics/window_choice.h"

namespace llmb::report {
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

parser::Result<void> check_window_size(const parser::LogFacts& facts,
                                       const parser::Window& window) {
  if (steps_in_window_at_most(facts, window) <= kStepsInWindowMax) return {};
  return parser::fail("Window " + parser::to_string(window) + " holds more than " +
                      std::to_string(kStepsInWindowMax) + " steps of this run; ask for less.");
}

parser::Result<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, const storage::RunRecord& run, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked) {
  const parser::RunEvidence evidence{run.configuration, run.facts.dialect,
                                     run.summary.logged_global_batch_size};
  const parser::RecipeMatch match = parser::match_recipe(catalog, evidence);
  const auto measure = [&](const parser::RunSummary& summary, const std::string& source) {
    return parser::measure_run(catalog, evidence, match, summary, source,
                               parser::kTokensToTrainDefault);
  };
  const auto summarize = [&](const parser::Window& wanted) {
    if (wanted == run.summary.window) return run.summary;
    // A list's record lacks the events, which tell how a run ended.
    const auto whole = reader.run(run.id);
    return summarize_stored_run(reader, whole.value_or(run), reader.steps(run.id, wanted), wanted);
  };

  parser::ComparedRun compared;
  compared.id = run.id;
  compared.experiment = run.path.experiment;
  compared.job_id = run.path.job_id;
  compared.path = run.relative_path;
  compared.configuration = run.configuration;
  compared.dialect = run.facts.dialect;
  compared.has_profiles = run.is_profiled;
  compared.nccl_trace_seen = run.facts.nccl_trace_seen;
  compared.is_superseded = run.is_superseded;
  // The stored window is the chosen one, unless it was chosen by another catalog.
  const auto chosen = parser::choose_window(catalog, asked, match, run.facts);
  if (chosen.window != run.summary.window) {
    if (const auto fits = check_window_size(run.facts, chosen.window); !fits) {
      return tl::unexpected(fits.error());
    }
  }
  compared.published = measure(summarize(chosen.window), chosen.source);
  compared.metrics = asked || chosen.window == run.summary.window
                         ? compared.published
                         : measure(run.summary, run.summary.window_source);
  return compared;
}

}  // namespace llmb::report
