#include "parser/statistics/run_start.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace llmb::parser {

std::optional<std::vector<std::size_t>> order_of(const std::vector<RunStart>& starts) {
  const auto all = [&](auto has) { return std::all_of(starts.begin(), starts.end(), has); };
  const bool have_launches =
      all([](const RunStart& start) { return start.launched_at.has_value(); });
  const bool have_jobs = all([&](const RunStart& start) {
    return start.job_id.has_value() && start.cluster == starts.front().cluster;
  });
  if (!have_launches && !have_jobs) return std::nullopt;
  std::vector<std::size_t> order(starts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const RunStart& first = starts[a];
    const RunStart& second = starts[b];
    if (!have_launches) return *first.job_id < *second.job_id;
    return std::tie(*first.launched_at, first.job_id) <
           std::tie(*second.launched_at, second.job_id);
  });
  return order;
}

}  // namespace llmb::parser
