#include "runner/plan/fp8_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/model/precision.h"
#include "runner/plan/memory_plan.h"
#include "runner/plan/text_format.h"

namespace llmb::runner {
namespace {

// Of a GPU's memory: by as much a run may exceed its plan, and a GPU have less than its data sheet
// says. A run without copies is slower, and one that runs out of memory is none.
constexpr std::int64_t kSpareShare = 20;

// The CPU rounds copies.
bool has_fp8_products(const RunSettings& settings) {
  return settings.backend == Backend::cuda && is_fp8(settings.precision);
}

std::int64_t largest_copies(RunSettings settings) {
  settings.keeps_fp8_weights = true;
  std::int64_t bytes = 0;
  for (const StageBytes& stage : make_memory_plan(settings).stages) {
    bytes = std::max(bytes, stage.fp8_weights);
  }
  return bytes;
}

}  // namespace

bool choose_to_keep_fp8_weights(RunSettings settings, std::int64_t capacity_bytes) {
  const bool are_useful = has_fp8_products(settings) && settings.micro_batches() > 1;
  if (!are_useful || settings.fully_sharded) return false;
  settings.keeps_fp8_weights = true;
  return make_memory_plan(settings).fits(capacity_bytes - capacity_bytes / kSpareShare);
}

std::string fp8_weights_text(const RunSettings& settings) {
  if (!has_fp8_products(settings)) return "";
  const auto copies = [&] { return gib(largest_copies(settings)); };
  if (settings.keeps_fp8_weights) {
    return fmt::format(
        "FP8 weights are cast once a step and kept, {} GiB a rank beside the others\n", copies());
  }
  std::string reason;
  if (settings.fully_sharded) {
    reason = "they are sharded";
  } else if (settings.micro_batches() == 1) {
    reason = "a step has one micro-batch";
  } else {
    reason = fmt::format(
        "copies for a whole step take {} GiB a rank and do not fit with 5 % to spare", copies());
  }
  return fmt::format("FP8 weights are cast in every pass: {}\n", reason);
}

}  // namespace llmb::runner
