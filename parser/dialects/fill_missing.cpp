#include "parser/dialects/fill_missing.h"

#include <algorithm>
#include <optional>

#include "parser/dialects/fields.h"
#include "parser/step_fields.h"

namespace llmb::parser {
namespace {

template <typename Value>
void fill(std::optional<Value>& into, const std::optional<Value>& from) {
  if (!into) into = from;
}

// No value of its own that could be missing.
template <typename Value>
void fill(Value& /*into*/, const Value& /*from*/) {}

}  // namespace

void fill_missing(StepSample& into, const StepSample& from) {
  const bool takes_time = !into.step_time_s;
  if (takes_time) into.step_time_resolution_s = from.step_time_resolution_s;
  for_each_step_field([&](const auto& field) { fill(into.*field.member, from.*field.member); });
  if (into.logged_at.empty()) into.logged_at = from.logged_at;
  for (const auto& extra : from.extra_fields) {
    const bool is_known = std::ranges::any_of(
        into.extra_fields, [&](const auto& field) { return field.first == extra.first; });
    const bool is_of_other_time = !takes_time && extra.first == kTimeIsFromRate;
    if (!is_known && !is_of_other_time) add_extra_field(into, extra.first, extra.second);
  }
}

}  // namespace llmb::parser
