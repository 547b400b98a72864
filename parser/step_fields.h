// The one table of StepSample's fields: name, member, and where the field is shown. Saved state,
// SQL, the API's columns and the JSON of samples are made from it, so that a new field is one row
// here, a migration that adds its column, and its lines in the schemas. extra_fields is no part of
// it: its names come from the log.
#pragma once

#include <string_view>
#include <tuple>

#include "parser/step_sample.h"

namespace llmb::parser {

// In the columns of a run's steps.
enum class StepColumn {
  always,      // a column of every run
  where_used,  // left out where no step of the run has it
  never,
};

template <typename Member>
struct StepField {
  std::string_view name;  // of the member, the database's column, the JSON key
  Member StepSample::*member;
  StepColumn column = StepColumn::where_used;
};
template <typename Member>
StepField(std::string_view, Member StepSample::*, StepColumn) -> StepField<Member>;
template <typename Member>
StepField(std::string_view, Member StepSample::*) -> StepField<Member>;

// The order is part of stored data: packed steps hold the fields in it, and bit N of nan_fields in
// the database stands for the Nth std::optional<double>. Add a field below all others.
inline constexpr std::tuple kStepFields{
    StepField{"segment", &StepSample::segment, StepColumn::always},
    StepField{"iteration", &StepSample::iteration, StepColumn::always},
    StepField{"step_time_s", &StepSample::step_time_s, StepColumn::always},
    StepField{"tflops_per_gpu", &StepSample::tflops_per_gpu, StepColumn::always},
    StepField{"loss", &StepSample::loss},
    StepField{"learning_rate", &StepSample::learning_rate},
    StepField{"grad_norm", &StepSample::grad_norm},
    StepField{"params_norm", &StepSample::params_norm},
    StepField{"loss_scale", &StepSample::loss_scale},
    StepField{"consumed_samples", &StepSample::consumed_samples},
    StepField{"global_batch_size", &StepSample::global_batch_size},
    StepField{"skipped_iterations", &StepSample::skipped_iterations},
    StepField{"nan_iterations", &StepSample::nan_iterations},
    StepField{"memory_bytes_max", &StepSample::memory_bytes_max},
    StepField{"memory_bytes_allocated", &StepSample::memory_bytes_allocated},
    StepField{"epoch", &StepSample::epoch},
    StepField{"global_step", &StepSample::global_step},
    StepField{"logged_at", &StepSample::logged_at},
    StepField{"iteration_is_logged", &StepSample::iteration_is_logged, StepColumn::never},
    StepField{"step_time_resolution_s", &StepSample::step_time_resolution_s, StepColumn::never},
    StepField{"byte_offset", &StepSample::byte_offset},
};

// Calls visit(field) with each StepField<Member>, in the order of the table.
template <typename Visit>
constexpr void for_each_step_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, kStepFields);
}

}  // namespace llmb::parser
