#include "runner/plan/dry_run.h"

#include <unistd.h>

#include "runner/plan/gpu_rates.h"
#include "runner/plan/memory_choice.h"
#include "runner/plan/plan_text.h"

namespace llmb::runner {

Result<Capacity> capacity_of(const RunSettings& settings, const parser::Catalog& catalog) {
  if (settings.backend == Backend::cpu) {
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
    return Capacity{pages * sysconf(_SC_PAGESIZE), "this machine"};
  }
  const auto rates = gpu_rates(catalog, settings.gpu_type);
  if (!rates) return tl::unexpected(rates.error());
  return Capacity{rates->memory_bytes, rates->gpu_type};
}

bool fits(const RunSettings& settings, const MemoryPlan& plan, const Capacity& capacity) {
  if (settings.rank_slice && settings.backend == Backend::cpu) {
    const auto layout = Layout::make(settings.sizes, settings.world_size());
    const auto stage = static_cast<std::size_t>(layout->place_of(*settings.rank_slice).pp);
    return plan.stages.at(stage).total() <= capacity.bytes;
  }
  const bool in_one_process = settings.backend == Backend::cpu && settings.launched_ranks == 1;
  return in_one_process ? plan.total_of_all_ranks(settings.sizes) <= capacity.bytes
                        : plan.fits(capacity.bytes);
}

Result<DryRun> dry_run(RunSettings settings, const parser::Catalog& catalog) {
  const auto rates = gpu_rates(catalog, settings.gpu_type);
  if (!rates) return tl::unexpected(rates.error());
  const auto capacity = capacity_of(settings, catalog);
  if (!capacity) return tl::unexpected(capacity.error());
  choose_by_memory(settings, capacity->bytes);
  const MemoryPlan plan = make_memory_plan(settings);
  DryRun result{plan_text(settings, plan, *rates), kExitOk, lack_of_blocks(settings, *rates)};
  if (!result.refusal.empty()) {
    result.exit_code = kExitUsage;
  } else if (!fits(settings, plan, *capacity)) {
    result.text += does_not_fit_text(settings, plan, capacity->bytes, capacity->name);
    result.exit_code = kExitDoesNotFit;
  }
  return result;
}

}  // namespace llmb::runner
