// StepMarks: which of the next steps a checkpoint, an evaluation or a profiler touches. Their lines
// stand between those of the steps; the step whose line comes next gets an extra field that says so
// (step_interruption.h). Of several such lines before one step is added the newest counts, so what
// a reader holds back (HeldSteps) may stay without a mark.
#pragma once

#include <cstdint>
#include <optional>

#include "parser/dialects/state_text.h"
#include "parser/step_sample.h"

namespace llmb::parser {

// What a line between two steps tells of.
enum class InterruptionSign {
  evaluation,
  profile,        // something of a profiler, in one step
  profile_begun,  // from here
  profile_ended,  // to here, the writing of its file included
};

class StepMarks {
 public:
  void see(InterruptionSign sign, std::uint64_t offset);
  // `after`: the save is in the time of the first step behind that iteration, where a step's line
  // may come after the lines of what the step that follows began with (MaxText).
  void see_checkpoint(std::uint64_t offset, std::optional<std::int64_t> after = std::nullopt) {
    checkpoint_ = offset;
    checkpoint_after_ = after;
  }

  // True where the sample got a mark. Of a line that begins before what was seen nothing is marked.
  bool put_on(StepSample& sample);

  // What was seen before `offset` touches no later step.
  void forget_before(std::uint64_t offset);

  // The marks of `before` on `after`, the same step with more fields.
  static void keep(const StepSample& before, StepSample& after);

  void save(StateWriter& state) const;
  void restore(StateReader& state);

 private:
  // Where the lines begin that no step has followed yet.
  std::optional<std::uint64_t> checkpoint_;
  std::optional<std::int64_t> checkpoint_after_;
  std::optional<std::uint64_t> evaluation_;
  std::optional<std::uint64_t> profile_;
  std::optional<std::uint64_t> profile_begun_;  // and not ended
};

}  // namespace llmb::parser
