// DerivedMetrics: what a run's step time and TFLOPS mean: tokens per second, days to train, model
// FLOPs utilization. Every metric carries its formula and its inputs with their sources; where an
// input is missing it has no value but a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/catalog/recipe_match.h"

namespace llmb::parser {

struct MetricInput {
  std::string name;  // "step_time_s_mean"
  double value = 0;
  std::string source;  // "window 11-44", "grok1-25.05 line 20", "llmb_config" …
};

struct Metric {
  std::string name;  // the JSON key: "tokens_per_s"
  std::string unit;  // "tokens/s", "days", "1" for a fraction
  std::string formula;
  std::optional<double> value;
  std::string reason;  // why there is no value; empty where there is one
  std::vector<MetricInput> inputs;
};

struct DerivedMetrics {
  Metric tokens_per_s;
  Metric tokens_per_s_per_gpu;
  Metric days_to_train;              // as many tokens as were asked for
  Metric mfu;                        // as the run's own document defines it: one of the next two
  Metric mfu_model_flops_reference;  // by the formula of the workload's document
  Metric mfu_tflops_per_gpu;         // from what the producer printed
  Metric mfu_causal;                 // by Megatron's formula: attention counted half
  Metric energy_j_per_token;         // what the GPUs took, as the log prints it

  std::vector<const Metric*> all() const;
};

// Metric::formula of a rate that is the log's own.
inline constexpr std::string_view kPrintedRateFormula = "mean of what the log prints";

inline constexpr double kTokensToTrainDefault = 1e12;

struct RunMeasurement {
  std::string window;  // names the source of these: "11-44"
  std::optional<double> step_time_s_mean;
  std::optional<double> tflops_per_gpu_mean;
  double tokens_to_train = kTokensToTrainDefault;
  // Of the log itself: taken where the recipe and the step time do not give it.
  std::optional<double> printed_tokens_per_s_per_gpu = {};
  std::optional<double> energy_j_per_gpu_mean = {};  // of a step
};

// `run` and `match` belong together: match_recipe(catalog, run).
DerivedMetrics derive_metrics(const Catalog& catalog, const RunEvidence& run,
                              const RecipeMatch& match, const RunMeasurement& measurement);

}  // namespace llmb::parser
