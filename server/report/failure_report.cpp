#include "server/report/failure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "parser/foundation/instant.h"

namespace llmb::report {
namespace {

using std::chrono::sys_days;

// The most first; of equally many in the order of their names, which the map has.
template <typename Item, typename Map, typename RunsOf>
std::vector<Item> most_first(Map map, RunsOf runs_of) {
  std::vector<Item> items;
  items.reserve(map.size());
  for (auto& [name, item] : map) items.push_back(std::move(item));
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return runs_of(a) > runs_of(b); });
  return items;
}

constexpr auto kCountedRuns = [](const auto& item) { return item.counted.runs; };

// Those with a cause failed, whatever their status says: such as hang run.
enum class RunEnd { failed, complete, unexplained };

RunEnd end_of(const storage::EndedRuns& ended) {
  if (!ended.cause.empty()) return RunEnd::failed;
  return ended.status == parser::RunStatus::complete ? RunEnd::complete : RunEnd::unexplained;
}

void add_ended(const storage::FailureCounts& counts, FailureReport& report) {
  std::map<std::string, FailureReport::Cause> causes;
  std::map<parser::RunStatus, FailureReport::Unexplained> unexplained;
  std::map<std::string, FailureReport::Cluster> clusters;
  for (const storage::EndedRuns& ended : counts.ended) {
    const std::string cluster_name = counts.trees.of(ended.root_id, ended.cluster);
    FailureReport::Cluster& cluster = clusters[cluster_name];
    cluster.cluster = cluster_name;
    cluster.ended += ended.counted.runs;
    report.ended += ended.counted.runs;
    const RunEnd end = end_of(ended);
    if (end == RunEnd::failed) {
      FailureReport::Cause& cause = causes[ended.cause];
      cause.cause = ended.cause;
      cause.counted.add(ended.counted);
      if (ended.status == parser::RunStatus::running) cause.running += ended.counted.runs;
      cluster.failed += ended.counted.runs;
      report.failed += ended.counted.runs;
    } else if (end == RunEnd::complete) {
      report.complete += ended.counted.runs;
    } else {
      FailureReport::Unexplained& status = unexplained[ended.status];
      status.status = ended.status;
      (ended.have_run_all_steps ? status.all_steps_run : status.stopped).add(ended.counted);
    }
  }
  report.causes = most_first<FailureReport::Cause>(std::move(causes), kCountedRuns);
  report.unexplained = most_first<FailureReport::Unexplained>(
      std::move(unexplained), [](const auto& one) { return one.counted().runs; });
  report.clusters = most_first<FailureReport::Cluster>(
      std::move(clusters), [](const auto& cluster) { return cluster.failed; });
}

std::vector<storage::RunId> newest_of(std::vector<const storage::FailureLine*> lines) {
  std::sort(lines.begin(), lines.end(), [](const auto* a, const auto* b) {
    return std::tie(a->began_at, a->run) > std::tie(b->began_at, b->run);
  });
  if (lines.size() > kNodeRunsMax) lines.resize(kNodeRunsMax);
  std::vector<storage::RunId> runs;
  runs.reserve(lines.size());
  for (const storage::FailureLine* const line : lines) runs.push_back(line->run);
  return runs;
}

// A run counts for one node: it has one line.
void add_nodes(const storage::FailureCounts& counts, FailureReport& report) {
  std::map<std::string, FailureReport::Node> nodes;
  std::map<std::string, std::vector<const storage::FailureLine*>> lines;
  for (const storage::FailureLine& line : counts.lines) {
    if (line.node.empty()) continue;
    FailureReport::Node& node = nodes[line.node];
    node.node = line.node;
    node.counted.add({1, line.run, line.began_at});
    ++node.causes[line.cause];
    lines[line.node].push_back(&line);
  }
  report.nodes = most_first<FailureReport::Node>(std::move(nodes), kCountedRuns);
  report.nodes_are_of_all = counts.lines_are_of_all;
  if (report.nodes.size() > kFailureNodesMax) {
    report.nodes_left_out = static_cast<std::int64_t>(report.nodes.size() - kFailureNodesMax);
    report.nodes.resize(kFailureNodesMax);
  }
  for (FailureReport::Node& node : report.nodes) {
    node.newest_runs = newest_of(std::move(lines[node.node]));
  }
}

// The first day of the period that holds `day`.
sys_days begin_of(std::string_view period, sys_days day) {
  const std::chrono::year_month_day date(day);
  if (period == "month") return sys_days(date.year() / date.month() / 1);
  if (period == "week") return day - (std::chrono::weekday(day) - std::chrono::Monday);
  return day;
}

sys_days next_of(std::string_view period, sys_days begin) {
  if (period != "month") return begin + std::chrono::days(period == "week" ? 7 : 1);
  const std::chrono::year_month_day date(begin);
  return sys_days((date.year() / date.month() + std::chrono::months(1)) / 1);
}

std::string text_of(sys_days day) {
  return parser::instant_text_s(day).substr(0, 10);
}

struct DatedCounts {
  sys_days day;
  const storage::EndedRuns* counts = nullptr;
};

// Those that are dates; in order.
std::vector<DatedCounts> dated(const std::vector<storage::EndedRuns>& ended) {
  std::vector<DatedCounts> all;
  for (const storage::EndedRuns& one : ended) {
    const auto instant = parser::parse_instant(one.day);
    if (instant) all.push_back({std::chrono::floor<std::chrono::days>(*instant), &one});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const DatedCounts& a, const DatedCounts& b) { return a.day < b.day; });
  return all;
}

// Of too many months those before the last ones are left out.
std::string_view shortest_period(sys_days first, sys_days last) {
  const auto days = [](sys_days from, sys_days to) {
    return static_cast<std::size_t>((to - from).count());
  };
  if (days(first, last) < kFailurePeriodsMax) return "day";
  const auto weeks = days(begin_of("week", first), begin_of("week", last)) / 7 + 1;
  return weeks <= kFailurePeriodsMax ? "week" : "month";
}

void add_periods(const storage::FailureCounts& counts, FailureReport& report) {
  const std::vector<DatedCounts> days = dated(counts.ended);
  if (days.empty()) return;
  report.period = shortest_period(days.front().day, days.back().day);
  const sys_days last = begin_of(report.period, days.back().day);
  sys_days first = last;
  for (std::size_t i = 1; i < kFailurePeriodsMax && first > days.front().day; ++i) {
    first = begin_of(report.period, first - std::chrono::days(1));
  }
  first = std::max(first, begin_of(report.period, days.front().day));
  for (sys_days begin = first; begin <= last; begin = next_of(report.period, begin)) {
    report.periods.push_back({text_of(begin), 0, 0, 0});
  }
  for (const DatedCounts& day : days) {
    const std::int64_t runs = day.counts->counted.runs;
    const std::string begins_on = text_of(begin_of(report.period, day.day));
    const auto period =
        std::lower_bound(report.periods.begin(), report.periods.end(), begins_on,
                         [](const FailureReport::Period& one, const std::string& day_text) {
                           return one.begins_on < day_text;
                         });
    if (day.day < first || period == report.periods.end()) {
      report.ended_before += runs;
      continue;
    }
    period->ended += runs;
    const RunEnd end = end_of(*day.counts);
    if (end == RunEnd::failed) period->failed += runs;
    if (end == RunEnd::complete) period->complete += runs;
  }
}

}  // namespace

storage::CountedRuns FailureReport::Unexplained::counted() const {
  storage::CountedRuns both = stopped;
  both.add(all_steps_run);
  return both;
}

FailureReport failure_report(const storage::FailureCounts& counts) {
  FailureReport report;
  add_ended(counts, report);
  add_nodes(counts, report);
  add_periods(counts, report);
  return report;
}

}  // namespace llmb::report
