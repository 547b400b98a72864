#include "server/dispatch/nearest_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmb::dispatch {
namespace {

// Scales differ by factors.
double distance(const parser::Recipe& row, std::int64_t scale) {
  const std::int64_t nearest = std::clamp(scale, row.gpu_count_min, row.gpu_count_max);
  return std::abs(std::log(static_cast<double>(nearest) / static_cast<double>(scale)));
}

// Whether so many ranks can be laid out like it.
bool divides(const parser::Recipe& row, std::int64_t scale) {
  const std::int64_t replica = row.tensor_parallel * row.pipeline_parallel * row.context_parallel;
  if (scale < 1 || scale % replica != 0) return false;
  const std::int64_t of_experts =
      row.expert_parallel.value_or(1) * row.expert_tensor_parallel.value_or(1);
  return scale / row.pipeline_parallel % of_experts == 0;
}

}  // namespace

std::string nearest_layout(const Submission& wanted, const parser::Catalog& catalog) {
  const parser::Recipe* nearest = nullptr;
  for (const parser::Recipe& row : catalog.recipes) {
    if (row.workload != wanted.workload || row.model_size != wanted.model_size ||
        row.gpu_type != wanted.gpu_type || row.is_proxy || row.fully_sharded.value_or(false) ||
        !divides(row, wanted.scale)) {
      continue;
    }
    if (!wanted.document.empty() && row.document != wanted.document) continue;
    if (nearest == nullptr || distance(row, wanted.scale) <= distance(*nearest, wanted.scale)) {
      nearest = &row;
    }
  }
  if (nearest == nullptr) return {};
  std::string text;
  bool is_given = true;
  const auto add = [&](const char* name, std::int64_t value) {
    if (value <= 1) return;
    text += fmt::format("{}--set {}={}", text.empty() ? "" : " ", name, value);
    const auto given = wanted.runner_options.find(name);
    is_given = is_given && given != wanted.runner_options.end() && given->second == value;
  };
  add("tp", nearest->tensor_parallel);
  add("pp", nearest->pipeline_parallel);
  add("cp", nearest->context_parallel);
  if (nearest->pipeline_parallel > 1) {
    add("vp", nearest->virtual_pipeline_run.value_or(nearest->virtual_pipeline.value_or(1)));
  }
  add("ep", nearest->expert_parallel.value_or(1));
  add("etp", nearest->expert_tensor_parallel.value_or(1));
  if (text.empty() || is_given) return {};
  const std::int64_t at = std::clamp(wanted.scale, nearest->gpu_count_min, nearest->gpu_count_max);
  return fmt::format("{}, as {} {} have", text, at, wanted.gpu_type);
}

}  // namespace llmb::dispatch
