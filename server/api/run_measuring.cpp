#include "server/api/run_measuring.h"

#include "server/api/run_lookup.h"

namespace llmb::api {

std::optional<parser::ComparedRun> measure_stored_run(storage::Reader& reader, storage::RunId id,
                                                      const parser::Catalog& catalog,
                                                      const std::optional<parser::Window>& asked) {
  const auto run = reader.run(id);
  if (!run) return std::nullopt;
  const parser::Window window = asked.value_or(run->summary.window);
  refuse_long_window(run->facts, window);
  const auto samples = reader.steps(id, window);
  const parser::RunEvidence evidence{run->configuration, run->facts.dialect,
                                     parser::logged_global_batch_size(samples)};
  const parser::RecipeMatch match = parser::match_recipe(catalog, evidence);
  const auto measure = [&](const parser::RunSummary& summary, const std::string& source) {
    return parser::measure_run(catalog, evidence, match, summary, source,
                               parser::kTokensToTrainDefault);
  };
  const auto summarize = [&](const parser::Window& wanted) {
    if (wanted == run->summary.window) return run->summary;
    refuse_long_window(run->facts, wanted);
    return summarize_stored_run(reader, *run, wanted == window ? samples : reader.steps(id, wanted),
                                wanted);
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
  const std::string source =
      asked ? "asked for" : "default of " + std::string(parser::dialect_name(run->facts.dialect));
  compared.metrics = measure(summarize(window), source);
  const auto chosen =
      parser::choose_window(asked, match, run->facts.dialect, run->summary.last_iteration);
  compared.published =
      chosen.window == window ? compared.metrics : measure(summarize(chosen.window), chosen.source);
  compared.published.window_source = chosen.source;
  return compared;
}

}  // namespace llmb::api
