#include "parser/dialects/printed_step.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "parser/dialects/state_text.h"
#include "parser/step_fields.h"

namespace llmb::parser {
namespace {

bool is_nan(const std::optional<double>& value) {
  return value && std::isnan(*value);
}
bool is_nan(double value) {
  return std::isnan(value);
}
template <typename Value>
bool is_nan(const Value& /*value*/) {
  return false;
}

bool differ(const std::optional<double>& a, const std::optional<double>& b) {
  return a != b && !(is_nan(a) && is_nan(b));
}

bool has_nan(const StepSample& sample) {
  bool found = std::any_of(sample.extra_fields.begin(), sample.extra_fields.end(),
                           [](const auto& field) { return std::isnan(field.second); });
  for_each_step_field([&](const auto& field) { found = found || is_nan(sample.*field.member); });
  return found;
}

}  // namespace

bool prints_the_same(const StepSample& a, const StepSample& b) {
  // What most often differs: then nothing has to be copied.
  if (a.iteration != b.iteration || differ(a.step_time_s, b.step_time_s) ||
      differ(a.tflops_per_gpu, b.tflops_per_gpu) || differ(a.loss, b.loss)) {
    return false;
  }
  StepSample same_place = a;
  same_place.segment = b.segment;
  same_place.byte_offset = b.byte_offset;
  if (same_place == b) return true;
  if (!has_nan(a) || !has_nan(b)) return false;
  StateWriter text_a;
  StateWriter text_b;
  text_a.sample(same_place);
  text_b.sample(b);
  return text_a.take() == text_b.take();
}

}  // namespace llmb::parser
