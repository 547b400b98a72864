#include "runner/op_table_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runner/plan/text_format.h"

namespace llmb::runner {

namespace {

constexpr double kTeraflop = 1e12;
constexpr double kGigabyte = 1e9;

// TFLOP/s, GB/s, and the share of the ceiling.
std::string speed_text(const std::string& name, const cpu::OpUse& use, const OpCeilings& ceilings) {
  const double flops_per_s = use.work.flops / use.time_s;
  const double bytes_per_s = use.work.bytes / use.time_s;
  const auto number = [](bool is_there, double value, const char* form) {
    return is_there ? text_of(form, value) : std::string("-");
  };
  const bool has_flops = use.work.flops > 0;
  const bool has_bytes = use.work.bytes > 0;
  // What it waits for the others is no matter of a device's speed.
  const std::optional<double> ceiling = use.is_beside ? std::nullopt
                                        : has_flops   ? ceilings.flops_per_s(name)
                                        : has_bytes   ? ceilings.bytes_per_s(name)
                                                      : std::nullopt;
  const double achieved = has_flops ? flops_per_s : bytes_per_s;
  return text_of(
      " %9s %8s %10s", number(has_flops, flops_per_s / kTeraflop, "%.3f").c_str(),
      number(has_bytes, bytes_per_s / kGigabyte, "%.1f").c_str(),
      number(ceiling.has_value(), 100 * achieved / ceiling.value_or(1), "%.1f%%").c_str());
}

}  // namespace

std::string profile_begin_text(std::int64_t first_step) {
  return text_of("llmb-step-runner profile: from step %lld on\n",
                 static_cast<long long>(first_step));
}

std::string op_table_text(const cpu::OpTable& operations, std::int64_t first_step,
                          std::int64_t stop_step, double time_s, const OpCeilings& ceilings) {
  std::vector<std::pair<std::string, cpu::OpUse>> rows(operations.begin(), operations.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time_s > b.second.time_s; });
  constexpr double kMicrosecondsPerSecond = 1e6;
  std::string text = text_of(
      "llmb-step-runner profile: steps %lld to %lld (before %lld), rank 0, %.6f s\n"
      "  %-28s %9s %12s %12s %7s %9s %8s %10s\n",
      static_cast<long long>(first_step), static_cast<long long>(stop_step),
      static_cast<long long>(stop_step), time_s, "operation", "calls", "total s", "mean us",
      "share", "TFLOP/s", "GB/s", "of ceiling");
  double in_operations_s = 0;
  std::string beside;
  for (const auto& [name, use] : rows) {
    if (use.is_beside) {
      beside += (beside.empty() ? "" : ", ") + name;
    } else {
      in_operations_s += use.time_s;
    }
    text += text_of("  %-28s %9lld %12.6f %12.2f %6.1f%%", name.c_str(),
                    static_cast<long long>(use.calls), use.time_s,
                    use.time_s / static_cast<double>(use.calls) * kMicrosecondsPerSecond,
                    100 * use.time_s / time_s) +
            speed_text(name, use, ceilings) + "\n";
  }
  const double rest_s = std::max(0.0, time_s - in_operations_s);
  text += text_of("  %-28s %9s %12.6f %12s %6.1f%%\n", "communication and other", "", rest_s, "",
                  100 * rest_s / time_s);
  if (!beside.empty()) {
    text +=
        "  beside these, on streams of their own, with the wait for other ranks: " + beside + "\n";
  }
  return text;
}

}  // namespace llmb::runner
