#include "parser/step_interruption.h"

#include <array>
#include <utility>

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

constexpr auto kInterruptionNames = name_table<StepInterruption>({
    {StepInterruption::checkpoint, "checkpoint"},
    {StepInterruption::evaluation, "evaluation"},
    {StepInterruption::profile, "profile"},
});

// timing_s/…: verl's phases of a step, which are parts of its time.
constexpr std::array<std::pair<std::string_view, StepInterruption>, 6> kInterruptionFields = {{
    {kAfterCheckpoint, StepInterruption::checkpoint},
    {"timing_s/save_checkpoint", StepInterruption::checkpoint},
    {kAfterEvaluation, StepInterruption::evaluation},
    {"timing_s/testing", StepInterruption::evaluation},
    {kIsProfiled, StepInterruption::profile},
    {kTimeIsHidden, StepInterruption::profile},
}};

}  // namespace

std::string_view step_interruption_name(StepInterruption interruption) {
  return kInterruptionNames.name(interruption);
}

StepInterruptionSet interruptions_of(const StepSample& sample) {
  StepInterruptionSet set;
  for (const auto& [name, value] : sample.extra_fields) {
    if (value == 0) continue;
    for (const auto& [field, interruption] : kInterruptionFields) {
      if (name == field) set.insert(interruption);
    }
  }
  return set;
}

}  // namespace llmb::parser
