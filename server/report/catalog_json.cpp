#include "server/report/catalog_json.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

Json printed_json(const std::optional<parser::PrintedNumber>& number) {
  return number ? Json(number->value) : Json(nullptr);
}

// Whole numbers stay numbers; what depends on the scale is text, as in the documents.
Json formula_json(const parser::ScaleFormula& formula) {
  return formula.depends_on_gpu_count ? Json(parser::to_string(formula)) : Json(formula.factor);
}

Json finding_json(const parser::AuditFinding& finding) {
  return {{"document", finding.document},
          {"is_of_other_release", finding.is_of_other_release},
          {"release", finding.release},
          {"line", finding.line},
          {"column", finding.column},
          {"row", finding.row},
          {"quantity", finding.quantity},
          {"printed", finding.printed},
          {"recomputed", nullable(finding.recomputed)},
          {"relative_difference", nullable(finding.relative_difference)},
          {"severity", parser::severity_name(finding.severity)},
          {"slip", finding.slip},
          {"explanation", finding.explanation}};
}

Json counts_json(const parser::AuditCounts& counts) {
  return {{"figures_checked", counts.figures_checked},
          {"findings", counts.findings},
          {"unchecked", counts.unchecked}};
}

Json metric_json(const parser::Metric& metric) {
  Json inputs = Json::array();
  for (const parser::MetricInput& input : metric.inputs) {
    inputs.push_back(
        {{"name", input.name}, {"value", number(input.value)}, {"source", input.source}});
  }
  return {{"value", number(metric.value)},
          {"unit", metric.unit},
          {"reason", null_if_empty(metric.reason)},
          {"formula", metric.formula},
          {"inputs", std::move(inputs)}};
}

Json match_json(const parser::RecipeMatch& match) {
  Json mismatches = Json::array();
  for (const parser::RecipeMismatch& mismatch : match.mismatches) {
    mismatches.push_back({{"key", mismatch.key},
                          {"run_value", mismatch.run_value},
                          {"run_source", mismatch.run_source},
                          {"recipe_value", mismatch.recipe_value}});
  }
  const auto recipe_or_null = [](const parser::Recipe* recipe) {
    return recipe == nullptr ? Json(nullptr) : recipe_json(*recipe);
  };
  return {{"outcome", parser::match_outcome_name(match.outcome)},
          {"reason", match.reason},
          {"is_proxy", match.is_proxy()},
          {"recipe", recipe_or_null(match.recipe)},
          {"nearest", recipe_or_null(match.nearest)},
          {"mismatches", std::move(mismatches)}};
}

}  // namespace

Json recipe_json(const parser::Recipe& recipe) {
  return {{"workload", recipe.workload},
          {"model_size", recipe.model_size},
          {"dtypes", recipe.dtypes},
          {"gpu_type", recipe.gpu_type},
          {"gpu_count_min", recipe.gpu_count_min},
          {"gpu_count_max", recipe.gpu_count_max},
          {"sequence_length", recipe.sequence_length},
          {"layer_count", recipe.layer_count},
          {"is_proxy", recipe.is_proxy},
          {"tensor_parallel", recipe.tensor_parallel},
          {"pipeline_parallel", recipe.pipeline_parallel},
          {"context_parallel", recipe.context_parallel},
          {"expert_parallel", nullable(recipe.expert_parallel)},
          {"expert_tensor_parallel", nullable(recipe.expert_tensor_parallel)},
          {"virtual_pipeline", nullable(recipe.virtual_pipeline)},
          {"virtual_pipeline_run", nullable(recipe.virtual_pipeline_run)},
          {"data_parallel", formula_json(recipe.data_parallel)},
          {"micro_batch_size", recipe.micro_batch_size},
          {"global_batch_size", formula_json(recipe.global_batch_size)},
          {"gradient_accumulation", recipe.gradient_accumulation},
          {"fully_sharded", nullable(recipe.fully_sharded)},
          {"cuda_graphs", nullable(recipe.cuda_graphs)},
          {"cuda_graphs_dtypes", recipe.cuda_graphs_dtypes},
          {"recompute_layers", nullable(recipe.recompute_layers)},
          {"offload_layers", nullable(recipe.offload_layers)},
          {"document", recipe.document},
          {"line", recipe.line}};
}

Json reference_json(const parser::Reference& reference) {
  return {{"workload", reference.workload},
          {"model_size", reference.model_size},
          {"dtype", reference.dtype},
          {"gpu_type", reference.gpu_type},
          {"gpu_count", reference.gpu_count},
          {"release", reference.release},
          {"step_time_s", printed_json(reference.step_time_s)},
          {"tokens_per_s", printed_json(reference.tokens_per_s)},
          {"mfu_percent", printed_json(reference.mfu_percent)},
          {"days_to_train_1t", printed_json(reference.days_to_train_1t)},
          {"document", null_if_empty(reference.document)},
          {"line", reference.line > 0 ? Json(reference.line) : Json(nullptr)},
          {"column", reference.column > 0 ? Json(reference.column) : Json(nullptr)},
          {"source", null_if_empty(reference.source)},
          {"has_recipe", reference.has_recipe},
          {"is_proxy", reference.is_proxy}};
}

Json audit_json(const parser::Audit& audit) {
  Json findings = Json::array();
  for (const auto& finding : audit.findings) findings.push_back(finding_json(finding));
  Json unchecked = Json::array();
  for (const auto& figure : audit.unchecked) {
    unchecked.push_back({{"document", figure.document},
                         {"line", figure.line},
                         {"column", figure.column},
                         {"row", figure.row},
                         {"quantity", figure.quantity},
                         {"reason", figure.reason}});
  }
  return {{"figures_checked", audit.figures_checked},
          {"documents", counts_json(audit.documents)},
          {"other_releases", counts_json(audit.other_releases)},
          {"findings", std::move(findings)},
          {"unchecked", std::move(unchecked)}};
}

Json run_metrics_json(const parser::Judgement& judgement) {
  const parser::RunMetrics& run = judgement.metrics;
  const parser::RunSummary& summary = judgement.summary;
  Json metrics;
  for (const parser::Metric* metric : run.derived.all()) {
    metrics[metric->name] = metric_json(*metric);
  }
  const auto mean = [](const std::optional<parser::WindowStatistics>& statistics) {
    return statistics ? number(statistics->mean) : Json(nullptr);
  };
  return {{"window", parser::to_string(summary.window)},
          {"window_source", judgement.window_source},
          {"window_is_whole", summary.window_is_whole},
          {"status", parser::run_status_name(summary.status)},
          {"tokens", run.tokens_to_train},
          {"step_time_s_mean", mean(summary.step_time_s)},
          {"tflops_per_gpu_mean", mean(summary.tflops_per_gpu)},
          {"recipe_match", match_json(judgement.match)},
          {"metrics", std::move(metrics)},
          {"reference", run.reference == nullptr ? Json(nullptr) : reference_json(*run.reference)},
          {"speed_against_reference", number(run.speed_against_reference)},
          {"reference_reason", null_if_empty(run.reference_reason)}};
}

}  // namespace llmb::report
