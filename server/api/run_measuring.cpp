#include "server/api/run_measuring.h"

#include "parser/statistics/window_choice.h"
#include "server/api/run_lookup.h"

namespace llmb::api {

std::optional<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, storage::RunId id, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked) {
  const auto run = reader.run(id);
  if (!run) return std::nullopt;
  const parser::Window window =
      asked ? parser::resolve_window(*asked, run->facts) : run->summary.window;
  refuse_long_window(run->facts, window);
  const parser::Window batch_window = parser::batch_evidence_window(run->facts);
  const auto batch_samples = reader.steps(id, batch_window);
  const parser::RunEvidence evidence{run->configuration, run->facts.dialect,
                                     parser::logged_global_batch_size(batch_samples, batch_window)};
  const parser::RecipeMatch match = parser::match_recipe(catalog, evidence);
  const auto measure = [&](const parser::RunSummary& summary, const std::string& source) {
    return parser::measure_run(catalog, evidence, match, summary, source,
                               parser::kTokensToTrainDefault);
  };
  const auto summarize = [&](const parser::Window& wanted) {
    if (wanted == run->summary.window) return run->summary;
    refuse_long_window(run->facts, wanted);
    return summarize_stored_run(reader, *run, reader.steps(id, wanted), wanted);
  };

  parser::ComparedRun compared;
  compared.id = id;
  compared.experiment = run->path.experiment;
  compared.job_id = run->path.job_id;
  compared.path = run->relative_path;
  compared.configuration = run->configuration;
  compared.dialect = run->facts.dialect;
  compared.has_profiles = run->is_profiled;
  compared.nccl_trace_seen = run->facts.nccl_trace_seen;
  compared.is_superseded = run->is_superseded;
  // The stored window is the chosen one, unless it was chosen by another catalog.
  const auto chosen = parser::choose_window(catalog, asked, match, run->facts);
  compared.published = measure(summarize(chosen.window), chosen.source);
  compared.metrics = chosen.window == window ? compared.published
                                             : measure(run->summary, run->summary.window_source);
  return compared;
}

}  // namespace llmb::api
