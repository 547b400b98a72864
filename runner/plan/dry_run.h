// --dry-run and the check before every run: does the plan fit where it is to run?
#pragma once

#include <cstdint>
#include <string>

#include "runner/plan/memory_plan.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

struct Capacity {
  std::int64_t bytes = 0;
  std::string name;  // "h100", "this machine"
};

// Of one GPU, or for the CPU backend of this machine for all ranks.
Result<Capacity> capacity_of(const RunSettings& settings, const parser::Catalog& catalog);

bool fits(const RunSettings& settings, const MemoryPlan& plan, const Capacity& capacity);

// What --dry-run prints, and with which code it ends: kExitOk, kExitDoesNotFit, or kExitUsage where
// `refusal` says why no run of the plan starts on such GPUs.
struct DryRun {
  std::string text;
  int exit_code = 0;
  std::string refusal;
};
Result<DryRun> dry_run(RunSettings settings, const parser::Catalog& catalog);

}  // namespace llmb::runner
