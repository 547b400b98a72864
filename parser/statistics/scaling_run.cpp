#include "parser/statistics/scaling_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace llmb::parser {
namespace {

// What a series has one of anyway, or what changes with the scale.
constexpr std::array<std::string_view, 11> kOfEverySeries = {
    "workload",  "workload_type", "model",      "model_size",       "dtype", "gpu_type", "cluster",
    "gpu_count", "node_count",    "rank_count", "global_batch_size"};
// Chosen anew for each scale: a point has one layout, a series may have several.
constexpr std::array<std::string_view, 11> kOfLayout = {
    "tensor_parallel",        "pipeline_parallel", "context_parallel", "virtual_pipeline",
    "expert_parallel",        "data_parallel",     "micro_batch_size", "layer_count",
    "expert_tensor_parallel", "sequence_length",   "rank_slice"};

template <typename Names>
bool is_among(const Names& names, std::string_view key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

std::string missing_of(const ScalingConfiguration& configuration) {
  std::string missing;
  const auto need = [&](bool is_there, std::string_view name) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  need(!configuration.work.workload.empty(), "workload");
  need(!configuration.work.model_size.empty(), "model size");
  need(!configuration.dtype.empty(), "dtype");
  need(!configuration.gpu_type.empty(), "GPU type");
  need(configuration.gpu_count.has_value(), "GPU count");
  if (missing.empty()) return "";
  const bool lacks_gpu = configuration.gpu_type.empty();
  return "Neither the run nor a recipe says its " + missing + "." +
         (lacks_gpu ? " Its llmb-config would, or `ingest --gpu-type` for a tree." : "");
}

// All that a ScalingConfiguration is made of.
std::string text_key_of(const ComparedRun& run, const ComparedWork& work,
                        const Characteristics& characteristics) {
  const RecipeMatch& match = run.judgement.match;
  std::string key;
  const auto add = [&key](std::string_view part) { key.append(part).push_back('\n'); };
  for (const auto& [name, value] : characteristics) {
    add(name);
    add(value);
  }
  const RunIdentity identity = identity_of(run);
  for (const std::string* const text :
       {&work.workload, &work.model_size, &identity.dtype, &identity.gpu_type}) {
    add(*text);
  }
  const auto number = [&](const std::optional<std::int64_t>& value) {
    add(value ? std::to_string(*value) : "-");
  };
  number(work.global_batch_size);
  number(work.sequence_length);
  number(identity.gpu_count);
  number(run.tree);
  add(work.has_printed_rate ? "printed" : "computed");
  add(fmt::format("{} {}", static_cast<const void*>(match.recipe),
                  static_cast<const void*>(match.document)));
  return key;
}

ScalingConfiguration make_configuration(const ComparedRun& run, ComparedWork work,
                                        const Characteristics& characteristics) {
  const RecipeMatch& match = run.judgement.match;
  ScalingConfiguration made;
  made.work = std::move(work);
  RunIdentity identity = identity_of(run);
  made.dtype = std::move(identity.dtype);
  made.gpu_type = std::move(identity.gpu_type);
  made.tree = run.tree;
  made.cluster = run.cluster;
  made.gpu_count = identity.gpu_count;
  made.missing = missing_of(made);
  for (const auto& [key, value] : characteristics) {
    if (is_among(kOfEverySeries, key)) continue;
    (is_among(kOfLayout, key) ? made.layout : made.series)[key] = value;
  }
  made.recipe = match.recipe;
  made.document = match.document;
  return made;
}

std::shared_ptr<const ScalingConfiguration> configuration_of(
    const ComparedRun& run, const std::vector<RunMarkReason>& marks,
    ScalingConfigurations& configurations) {
  const Characteristics characteristics = characteristics_of(run, marks);
  ComparedWork work = work_of(run);
  return configurations.of(text_key_of(run, work, characteristics), [&] {
    return make_configuration(run, std::move(work), characteristics);
  });
}

}  // namespace

std::shared_ptr<const ScalingRun> scaling_run(const ComparedRun& run,
                                              ScalingConfigurations& configurations) {
  const Metric& rate = run.judgement.metrics.derived.tokens_per_s_per_gpu;
  ScalingRun made;
  made.id = run.id;
  made.experiment = run.experiment;
  made.job_id = run.job_id;
  made.path = run.path;
  made.launched_at = run.launched_at;
  made.grown_at = run.grown_at;
  made.marks = marks_of(run);
  made.configuration = configuration_of(run, made.marks, configurations);
  made.tokens_per_s_per_gpu = rate.value;
  made.tokens_reason = rate.reason;
  made.published = against_published(run);
  made.teaches_noise = teaches_published_noise(run);
  return std::make_shared<const ScalingRun>(std::move(made));
}

ScalingRuns scaling_runs(const std::vector<ComparedRun>& runs) {
  ScalingConfigurations configurations;
  ScalingRuns made;
  made.reserve(runs.size());
  for (const ComparedRun& run : runs) made.push_back(scaling_run(run, configurations));
  return made;
}

}  // namespace llmb::parser
