#include "server/api/run_measuring.h"

#include "parser/statistics/window_choice.h"
#include "server/api/run_lookup.h"

namespace llmb::api {

parser::ComparedRun measure_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                       const parser::Catalog& catalog,
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
    refuse_long_window(run.facts, wanted);
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
  compared.published = measure(summarize(chosen.window), chosen.source);
  compared.metrics = asked || chosen.window == run.summary.window
                         ? compared.published
                         : measure(run.summary, run.summary.window_source);
  return compared;
}

std::optional<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, storage::RunId id, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked) {
  const auto run = reader.run(id);
  if (!run) return std::nullopt;
  return measure_stored_run(reader, *run, catalog, asked);
}

}  // namespace llmb::api
