// StepInterruption: what a step's time holds beside training: a checkpoint, an evaluation, or the
// profiler's work. Told from the extra fields of the step, which its reader and StepLedger write.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "parser/result.h"
#include "parser/step_sample.h"

namespace llmb::parser {

enum class StepInterruption { checkpoint, evaluation, profile };
std::string_view step_interruption_name(StepInterruption interruption);

using StepInterruptionSet = std::set<StepInterruption>;

// "checkpoint,profile", "all", or "" for none. Error: what is allowed.
Result<StepInterruptionSet> parse_step_interruptions(std::string_view text);
std::string step_interruption_names();  // "checkpoint, evaluation, profile, all"

StepInterruptionSet interruptions_of(const StepSample& sample);
// The same as "checkpoint,profile"; empty without any.
std::string interruption_text(const StepSample& sample);

// Extra fields of 1, of the first step whose line comes after the checkpoint's or evaluation's, and
// of each that a profiler looks at.
inline constexpr std::string_view kAfterCheckpoint = "after_checkpoint";
inline constexpr std::string_view kAfterEvaluation = "after_evaluation";
inline constexpr std::string_view kIsProfiled = "is_profiled";

// Of an extra field that is no field of the line: one of these, kTimeIsHidden or kTimeIsFromRate.
// Who is shown the interruptions, and the source of the times, needs none of them.
bool is_step_mark(std::string_view extra_field);

}  // namespace llmb::parser
