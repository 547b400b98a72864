#include "parser/statistics/judge_run.h"

#include <utility>

namespace llmb::parser {

Judgement assign_window(const Catalog& catalog, const RunToJudge& run,
                        const std::optional<AskedWindow>& asked) {
  Judgement judgement;
  if (run.logged_batch) {
    judgement.logged_global_batch_size = run.logged_batch->size;
  } else {
    const Window window = batch_evidence_window(run.facts);
    judgement.logged_global_batch_size = logged_global_batch_size(run.samples(window), window);
  }
  judgement.match = match_recipe(
      catalog, {run.configuration, run.facts.dialect, judgement.logged_global_batch_size});
  ChosenWindow chosen = choose_window(catalog, asked, judgement.match, run.facts);
  judgement.summary.window = chosen.window;
  judgement.window_source = std::move(chosen.source);
  return judgement;
}

Judgement judge_window(const Catalog& catalog, const RunToJudge& run, Judgement assigned,
                       const JudgingOptions& options) {
  Judgement judgement = std::move(assigned);
  const Window window = judgement.summary.window;
  const bool is_known = run.known_summary != nullptr && run.known_summary->window == window &&
                        options.without.empty();
  judgement.summary = is_known ? *run.known_summary
                               : summarize_run(run.samples(window), run.facts, window,
                                               run.may_still_grow, run.silence, options.without);
  if (options.tokens_to_train) {
    judgement.metrics = measure_run(
        catalog, {run.configuration, run.facts.dialect, judgement.logged_global_batch_size},
        judgement.match, judgement.summary, *options.tokens_to_train);
  }
  return judgement;
}

Judgement judge_run(const Catalog& catalog, const RunToJudge& run, const JudgingOptions& options) {
  return judge_window(catalog, run, assign_window(catalog, run, options.window), options);
}

}  // namespace llmb::parser
