#include "runner/op_table_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runner/plan/text_format.h"

namespace llmb::runner {

std::string op_table_text(const cpu::OpTable& operations, std::int64_t first_step,
                          std::int64_t stop_step, double time_s) {
  std::vector<std::pair<std::string, cpu::OpUse>> rows(operations.begin(), operations.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time_s > b.second.time_s; });
  constexpr double kMicrosecondsPerSecond = 1e6;
  std::string text = text_of(
      "llmb-step-runner profile: steps %lld to %lld (before %lld), rank 0, %.6f s\n"
      "  %-26s %9s %12s %12s %7s\n",
      static_cast<long long>(first_step), static_cast<long long>(stop_step),
      static_cast<long long>(stop_step), time_s, "operation", "calls", "total s", "mean us",
      "share");
  double in_operations_s = 0;
  for (const auto& [name, use] : rows) {
    in_operations_s += use.time_s;
    text += text_of("  %-26s %9lld %12.6f %12.2f %6.1f%%\n", name.c_str(),
                    static_cast<long long>(use.calls), use.time_s,
                    use.time_s / static_cast<double>(use.calls) * kMicrosecondsPerSecond,
                    100 * use.time_s / time_s);
  }
  const double rest_s = std::max(0.0, time_s - in_operations_s);
  text += text_of("  %-26s %9s %12.6f %12s %6.1f%%\n", "communication and other", "", rest_s, "",
                  100 * rest_s / time_s);
  return text;
}

}  // namespace llmb::runner
