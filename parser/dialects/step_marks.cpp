#include "parser/dialects/step_marks.h"

#include <algorithm>
#include <array>

#include "parser/dialects/fields.h"
#include "parser/step_interruption.h"

namespace llmb::parser {
namespace {

constexpr std::array kMarkFields = {kAfterCheckpoint, kAfterEvaluation, kIsProfiled};

bool has_field(const StepSample& sample, std::string_view name) {
  return std::any_of(sample.extra_fields.begin(), sample.extra_fields.end(),
                     [&](const auto& field) { return field.first == name; });
}

void save_offset(StateWriter& state, const std::optional<std::uint64_t>& offset) {
  state.boolean(offset.has_value());
  if (offset) state.unsigned_integer(*offset);
}

std::optional<std::uint64_t> restore_offset(StateReader& state) {
  if (!state.boolean()) return std::nullopt;
  return state.unsigned_integer();
}

}  // namespace

void StepMarks::see(InterruptionSign sign, std::uint64_t offset) {
  switch (sign) {
    case InterruptionSign::evaluation:
      evaluation_ = offset;
      break;
    case InterruptionSign::profile_begun:
      profile_begun_ = offset;
      break;
    case InterruptionSign::profile_ended:
      profile_begun_.reset();
      profile_ = offset;
      break;
    case InterruptionSign::profile:
      profile_ = offset;
      break;
  }
}

bool StepMarks::put_on(StepSample& sample) {
  bool is_marked = false;
  const auto is_behind = [&](const std::optional<std::uint64_t>& offset) {
    return offset && sample.byte_offset > *offset;
  };
  const auto mark = [&](std::string_view name) {
    add_extra_field(sample, name, 1);
    is_marked = true;
  };
  const auto mark_once = [&](std::optional<std::uint64_t>& offset, std::string_view name) {
    if (!is_behind(offset)) return;
    mark(name);
    offset.reset();
  };
  if (!checkpoint_after_ || sample.iteration > *checkpoint_after_) {
    mark_once(checkpoint_, kAfterCheckpoint);
  }
  mark_once(evaluation_, kAfterEvaluation);
  if (is_behind(profile_begun_)) {
    mark(kIsProfiled);
  } else {
    mark_once(profile_, kIsProfiled);
  }
  return is_marked;
}

void StepMarks::forget_before(std::uint64_t offset) {
  for (auto* const seen : {&checkpoint_, &evaluation_, &profile_, &profile_begun_}) {
    if (*seen && **seen < offset) seen->reset();
  }
}

void StepMarks::keep(const StepSample& before, StepSample& after) {
  for (const std::string_view name : kMarkFields) {
    if (has_field(before, name) && !has_field(after, name)) add_extra_field(after, name, 1);
  }
}

void StepMarks::save(StateWriter& state) const {
  save_offset(state, checkpoint_);
  state.optional_integer(checkpoint_after_);
  save_offset(state, evaluation_);
  save_offset(state, profile_);
  save_offset(state, profile_begun_);
}

void StepMarks::restore(StateReader& state) {
  checkpoint_ = restore_offset(state);
  checkpoint_after_ = state.optional_integer();
  evaluation_ = restore_offset(state);
  profile_ = restore_offset(state);
  profile_begun_ = restore_offset(state);
}

}  // namespace llmb::parser
