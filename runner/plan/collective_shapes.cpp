#include "runner/plan/collective_shapes.h"

#include "runner/plan/memory_plan.h"

namespace llmb::runner {
namespace {

ElementType type_of(std::int64_t bytes) {
  return bytes == 2 ? ElementType::bfloat16 : ElementType::float32;
}

}  // namespace

std::vector<CollectiveShape> collective_shapes(const RunSettings& settings, int stage) {
  const ParallelSizes& sizes = settings.sizes;
  const ModelShape& shape = settings.spec.shape;
  const NumberBytes bytes = number_bytes(settings.precision, settings.backend);
  const ElementType values = type_of(bytes.activation);
  const TokenCounts tokens = token_counts(settings.spec, sizes, settings.batch.micro_batch_size);
  std::vector<CollectiveShape> shapes;
  const auto there_and_back = [&](GroupKind group, std::int64_t count) {
    shapes.push_back({group, CollectiveKind::all_gather, values, count});
    shapes.push_back({group, CollectiveKind::reduce_scatter, values, count});
  };
  if (sizes.tp > 1) there_and_back(GroupKind::tensor, tokens.attended * shape.hidden_size);
  if (sizes.cp > 1) {
    there_and_back(GroupKind::context,
                   tokens.attended * sizes.cp * settings.spec.key_value_size() / sizes.tp);
  }
  const std::int64_t chosen = tokens.resident * shape.experts_per_token * shape.hidden_size;
  if (settings.spec.is_moe() && sizes.ep > 1) {
    shapes.push_back({GroupKind::expert, CollectiveKind::all_to_all, values, chosen});
  }
  if (settings.spec.is_moe() && sizes.etp > 1) {
    shapes.push_back(
        {GroupKind::expert_tensor, CollectiveKind::all_to_all, values, chosen * sizes.etp});
  }
  const MemoryPlan plan = make_memory_plan(settings);
  const StageBytes& held = plan.stages.at(static_cast<std::size_t>(stage));
  const auto gradients_and_weights = [&](GroupKind group, std::int64_t count) {
    shapes.push_back({group, CollectiveKind::reduce_scatter, type_of(bytes.gradient), count});
    shapes.push_back({group, CollectiveKind::all_gather, type_of(bytes.parameter), count});
  };
  if (sizes.dp * sizes.cp > 1) {
    gradients_and_weights(GroupKind::data_context, held.parameter_count);
  }
  if (settings.spec.is_moe() && sizes.edp() > 1) {
    gradients_and_weights(GroupKind::expert_data, held.expert_parameter_count);
  }
  return shapes;
}

}  // namespace llmb::runner
