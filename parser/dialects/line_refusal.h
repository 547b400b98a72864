// LineRefusal: why a line that looked like a step, or like another line that is wanted, could not
// be read as one.
#pragma once

#include <cstddef>
#include <string_view>

namespace llmb::parser {

enum class LineRefusal {
  iteration_not_read,
  step_time_not_read,
  step_time_impossible,
  value_not_read,
  fields_cut_off,
  step_line_missing,
  too_long,
  nccl_trace_torn,
};
inline constexpr std::size_t kLineRefusalCount = 8;

std::string_view line_refusal_name(LineRefusal reason);         // "iteration_not_read"
std::string_view line_refusal_explanation(LineRefusal reason);  // one sentence, for users

}  // namespace llmb::parser
