#include "runner/operation/ceiling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace llmb::runner {

double attention_flops(const AttentionShape& shape, std::span<const std::int64_t> positions) {
  double pairs = 0;
  for (const std::int64_t position : positions) {
    // Half of the diagonal's square counts.
    pairs += static_cast<double>(position - shape.first_visible(position)) + 0.5;
  }
  return 4 * pairs * static_cast<double>(shape.batch * shape.head_count * shape.head_size);
}

std::string LinearShape::operation(const std::string& pass, bool is_fp8) const {
  if (kind == LinearKind::router) {
    return pass == "forward" ? "router.logits" : "router.logits_backward";
  }
  if (is_fp8 && kind != LinearKind::head) return "fp8_linear." + pass;
  return (kind == LinearKind::expert ? "grouped_linear." : "linear.") + pass;
}

void set_times(std::vector<double> times_s, Ceiling& ceiling) {
  std::sort(times_s.begin(), times_s.end());
  ceiling.time_s = times_s[times_s.size() / 2];
  ceiling.time_s_min = times_s.front();
  ceiling.time_s_max = times_s.back();
}

void OpCeilings::add(const Ceiling& ceiling) {
  if (!ceiling.why_not.empty()) return;
  const bool moves = ceiling.bytes > 0;
  if (ceiling.operation.empty()) {
    if (moves) copied_bytes_per_s_ = ceiling.bytes / ceiling.time_s;
    return;
  }
  Sum& sum = (moves ? bytes_ : flops_)[ceiling.operation];
  sum.work += ceiling.count * (moves ? ceiling.bytes : ceiling.flops);
  sum.time_s += ceiling.count * ceiling.time_s;
}

std::optional<double> OpCeilings::flops_per_s(const std::string& operation) const {
  const auto found = flops_.find(operation);
  if (found == flops_.end()) return std::nullopt;
  return found->second.work / found->second.time_s;
}

std::optional<double> OpCeilings::bytes_per_s(const std::string& operation) const {
  const auto found = bytes_.find(operation);
  if (found == bytes_.end()) return copied_bytes_per_s_;
  return found->second.work / found->second.time_s;
}

std::string ceiling_heading() {
  return fmt::format("{:>10} {:>9} {:>8} {:>7} {:>7}  {}", "ms", "TFLOP/s", "GB/s", "MHz", "W",
                     "what");
}

std::string ceiling_line(const Ceiling& ceiling) {
  if (!ceiling.why_not.empty()) {
    return fmt::format("{:>10} {:>9} {:>8} {:>7} {:>7}  {}; not measured: {}", "-", "-", "-", "-",
                       "-", ceiling.name, ceiling.why_not);
  }
  const auto number = [](bool is_there, double value, int decimals) {
    return is_there ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
  };
  std::string line = fmt::format(
      "{:>10.4f} {:>9} {:>8} {:>7} {:>7}  {}", ceiling.time_s * 1e3,
      number(ceiling.flops > 0, ceiling.tflops_per_s(), 3),
      number(ceiling.bytes > 0, ceiling.gb_per_s(), 1),
      number(ceiling.sm_clock_hz.has_value(), ceiling.sm_clock_hz.value_or(0) / 1e6, 0),
      number(ceiling.power_w.has_value(), ceiling.power_w.value_or(0), 0), ceiling.name);
  if (!ceiling.throttle_reasons.empty()) {
    line += fmt::format("; slowed by {}", fmt::join(ceiling.throttle_reasons, ", "));
  }
  return line;
}

}  // namespace llmb::runner
