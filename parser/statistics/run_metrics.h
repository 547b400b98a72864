// RunMetrics: what a run's numbers mean by the recipe it is, and how they stand against the result
// published for it.
#pragma once

#include <optional>
#include <string>

#include "parser/statistics/derived_metrics.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {

struct RunMetrics {
  double tokens_to_train = 0;  // of days_to_train; 0: nothing was measured
  DerivedMetrics derived;
  const Reference* reference = nullptr;  // of the same recipe, scale, dtype and GPU
  // Published step time / the run's: 1 is as published, over 1 is faster.
  std::optional<double> speed_against_reference;
  std::string reference_reason;  // why there is no comparison; empty where there is one
};

// `summary` is over the chosen window. Pointers in the result live as long as the catalog.
RunMetrics measure_run(const Catalog& catalog, const RunEvidence& run, const RecipeMatch& match,
                       const RunSummary& summary, double tokens_to_train);

}  // namespace llmb::parser
