#include "server/ingest/same_verdict.h"

namespace llmb::ingest {

bool is_same_result(const storage::ListedResult& stored, const storage::ListedResult& now) {
  return stored.identity == now.identity &&
         stored.tokens_per_s_per_gpu == now.tokens_per_s_per_gpu && stored.mfu == now.mfu &&
         stored.speed_against_reference == now.speed_against_reference &&
         stored.catalog_hash == now.catalog_hash &&
         stored.has_run_all_steps == now.has_run_all_steps;
}

bool knows_gpu_type_of_root(const parser::RunConfiguration& stored, const std::string& of_root) {
  if (of_root.empty()) return true;
  const auto gpu_type = stored.get("gpu_type");
  return gpu_type && (gpu_type->source != parser::ConfigSource::path || gpu_type->value == of_root);
}

bool is_same_verdict(const std::optional<storage::RunRecord>& record,
                     const parser::RunConfiguration& configuration,
                     const parser::Judgement& judgement, const storage::ListedResult& listed) {
  return record && is_same_result(record->listed, listed) &&
         record->configuration.value("gpu_type") == configuration.value("gpu_type") &&
         record->summary.status == judgement.summary.status &&
         record->summary.failure_cause == judgement.summary.failure_cause &&
         record->summary.window == judgement.summary.window &&
         record->window_source == judgement.window_source &&
         record->logged_global_batch_size == judgement.logged_global_batch_size;
}

}  // namespace llmb::ingest
