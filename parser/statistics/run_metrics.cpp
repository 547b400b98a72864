#include "parser/statistics/run_metrics.h"

namespace llmb::parser {

RunMetrics measure_run(const Catalog& catalog, const RunEvidence& run, const RecipeMatch& match,
                       const RunSummary& summary, double tokens_to_train) {
  RunMetrics result;
  result.tokens_to_train = tokens_to_train;
  RunMeasurement measurement;
  measurement.window = to_string(summary.window);
  if (summary.step_time_s) measurement.step_time_s_mean = summary.step_time_s->mean;
  if (summary.tflops_per_gpu) measurement.tflops_per_gpu_mean = summary.tflops_per_gpu->mean;
  measurement.printed_tokens_per_s_per_gpu = summary.printed_tokens_per_s_per_gpu;
  measurement.energy_j_per_gpu_mean = summary.energy_j_per_gpu_mean;
  measurement.tokens_to_train = tokens_to_train;
  result.derived = derive_metrics(catalog, run, match, measurement);

  result.reference = find_reference(catalog, match);
  if (match.recipe == nullptr) {
    const bool may_be_one = !match.candidates.empty();
    result.reference_reason =
        (may_be_one ? "" : "The run is no recipe of the catalog. ") + match.reason;
  } else if (result.reference == nullptr) {
    result.reference_reason = "The recipe's document publishes no result at this scale and dtype.";
  } else if (!result.reference->step_time_s) {
    result.reference_reason = "The published result has no step time.";
  } else if (summary.is_function_check) {
    result.reference_reason =
        "The run is a function check: one step after loading a checkpoint says nothing of speed.";
  } else if (!measurement.step_time_s_mean) {
    result.reference_reason = "The run has no step time in its window " + measurement.window + ".";
  } else {
    result.speed_against_reference =
        result.reference->step_time_s->value / *measurement.step_time_s_mean;
  }
  return result;
}

}  // namespace llmb::parser
