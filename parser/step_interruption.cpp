#include "parser/step_interruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "parser/foundation/name_table.h"
#include "parser/foundation/text.h"

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

std::string step_interruption_names() {
  std::string names;
  for (const auto& [interruption, name] : kInterruptionNames) names += std::string(name) + ", ";
  return names + "all";
}

Result<StepInterruptionSet> parse_step_interruptions(std::string_view text) {
  StepInterruptionSet set;
  if (text.empty()) return set;
  for (const std::string_view word : split(text, ',')) {
    if (word == "all") {
      for (const auto& [interruption, name] : kInterruptionNames) set.insert(interruption);
      continue;
    }
    const auto interruption = kInterruptionNames.value(word);
    if (!interruption) {
      return fail(fmt::format("'{}' is not one of {}; several are separated by commas.", word,
                              step_interruption_names()));
    }
    set.insert(*interruption);
  }
  return set;
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

std::string interruption_text(const StepSample& sample) {
  std::string names;
  for (const StepInterruption interruption : interruptions_of(sample)) {
    if (!names.empty()) names += ',';
    names += step_interruption_name(interruption);
  }
  return names;
}

bool is_step_mark(std::string_view extra_field) {
  return extra_field == kAfterCheckpoint || extra_field == kAfterEvaluation ||
         extra_field == kIsProfiled || extra_field == kTimeIsHidden ||
         extra_field == kTimeIsFromRate;
}

}  // namespace llmb::parser
