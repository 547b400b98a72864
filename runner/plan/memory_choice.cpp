#include "runner/plan/memory_choice.h"

#include <fmt/format.h>

#include <optional>

#include "runner/plan/fp8_weights.h"
#include "runner/plan/memory_plan.h"
#include "runner/plan/text_format.h"

namespace llmb::runner {
namespace {

// Of a GPU's memory, which has a hundredth less than its data sheet says.
constexpr std::int64_t kShareLeft = 50;

// The fewest that leave that free; nothing where all of a stage do not.
std::optional<std::int64_t> layers_to_recompute(RunSettings settings, std::int64_t capacity_bytes) {
  const std::int64_t layers_of_a_stage = settings.spec.shape.layer_count / settings.sizes.pp;
  const std::int64_t bytes = capacity_bytes - capacity_bytes / kShareLeft;
  while (++settings.recompute_layers <= layers_of_a_stage) {
    if (make_memory_plan(settings).fits(bytes)) return settings.recompute_layers;
  }
  return std::nullopt;
}

void choose_recomputation(RunSettings& settings, std::int64_t capacity_bytes) {
  const bool may_choose = settings.backend == Backend::cuda && settings.may_recompute_more;
  const MemoryPlan plan = make_memory_plan(settings);
  if (!may_choose || plan.fits(capacity_bytes)) return;
  const auto layers = layers_to_recompute(settings, capacity_bytes);
  if (!layers) return;
  settings.recompute_layers = *layers;
  const bool has_row = settings.recipe != nullptr && settings.recipe->recompute_layers;
  const std::string of_row =
      has_row ? fmt::format("; the row states {}", *settings.recipe->recompute_layers) : "";
  settings.notes.push_back(
      fmt::format("{} of a stage's layers go forward again instead of keeping activations, which "
                  "takes longer: else {} GiB are needed of {}; --recompute-layers 0 forbids it{}",
                  *layers, gib(plan.largest().total()), gib(capacity_bytes), of_row));
}

}  // namespace

void choose_by_memory(RunSettings& settings, std::int64_t capacity_bytes) {
  settings.keeps_fp8_weights = choose_to_keep_fp8_weights(settings, capacity_bytes);
  choose_recomputation(settings, capacity_bytes);
}

}  // namespace llmb::runner
