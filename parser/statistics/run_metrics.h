// RunMetrics: a run's derived metrics with the recipe it is and the published result it stands
// against.
#pragma once

#include <optional>
#include <string>

#include "parser/statistics/derived_metrics.h"
#include "parser/statistics/run_summary.h"

namespace llmb::parser {

struct RunMetrics {
  std::string window_source;  // "asked for", "grok1-25.05", "default of nemo"
  double tokens_to_train = kTokensToTrainDefault;
  RunSummary summary;  // over the window of the metrics
  RecipeMatch match;
  DerivedMetrics metrics;
  const Reference* reference = nullptr;  // of the same recipe, scale, dtype and GPU
  // Published step time / the run's: 1 is as published, over 1 is faster.
  std::optional<double> speed_against_reference;
  std::string reference_reason;  // why there is no comparison; empty where there is one
};

// `summary` is over the chosen window. Pointers in the result live as long as the catalog.
RunMetrics measure_run(const Catalog& catalog, const RunEvidence& run, const RecipeMatch& match,
                       const RunSummary& summary, const std::string& window_source,
                       double tokens_to_train);

}  // namespace llmb::parser
