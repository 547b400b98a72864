#include "parser/dialects/line_refusal.h"

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

constexpr auto kNames = name_table<LineRefusal>({
    {LineRefusal::iteration_not_read, "iteration_not_read"},
    {LineRefusal::step_time_not_read, "step_time_not_read"},
    {LineRefusal::step_time_impossible, "step_time_impossible"},
    {LineRefusal::value_not_read, "value_not_read"},
    {LineRefusal::fields_cut_off, "fields_cut_off"},
    {LineRefusal::step_line_missing, "step_line_missing"},
    {LineRefusal::too_long, "too_long"},
    {LineRefusal::nccl_trace_torn, "nccl_trace_torn"},
});
static_assert(kNames.size() == kLineRefusalCount);

}  // namespace

std::string_view line_refusal_name(LineRefusal reason) {
  return kNames.name(reason);
}

std::string_view line_refusal_explanation(LineRefusal reason) {
  switch (reason) {
    case LineRefusal::iteration_not_read:
      return "The iteration is missing, or is no number that an iteration can be: no step.";
    case LineRefusal::step_time_not_read:
      return "The step time is no number, or the line ends before it: the step counts, if at all, "
             "without its time.";
    case LineRefusal::step_time_impossible:
      return "No step takes such a time (0, less, NaN or infinite): the step counts without it.";
    case LineRefusal::value_not_read:
      return "A value goes on where a number ends (5,3 or 5_3): the step counts without it.";
    case LineRefusal::fields_cut_off:
      return "The line ends within its fields: the last of them is left out.";
    case LineRefusal::step_line_missing:
      return "It goes on with a step's fields, but no step's line stands before it: no step.";
    case LineRefusal::too_long:
      return "It is longer than 1 MiB: it was dropped unread.";
    case LineRefusal::nccl_trace_torn:
      return "A line of an NCCL trace is torn by another process's line, or glued to it: a call "
             "that is cut is not counted.";
  }
  return {};
}

}  // namespace llmb::parser
