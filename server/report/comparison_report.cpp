#include "server/report/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "parser/statistics/unknown_profile.h"
#include "server/report/csv_line.h"
#include "server/report/published_standing_text.h"
#include "server/report/run_names.h"
#include "server/report/text_table.h"

namespace llmb::report {
namespace {

using parser::ComparedMetric;

int decimals_of(ComparedMetric metric) {
  return metric == ComparedMetric::step_time_s      ? 4
         : metric == ComparedMetric::tflops_per_gpu ? 2
                                                    : 1;
}

std::string with_interval(const std::optional<parser::MeanEstimate>& estimate, int decimals) {
  if (!estimate) return "-";
  std::string text = fixed(estimate->mean, decimals);
  if (estimate->high) text += " ± " + fixed(*estimate->high - estimate->mean, decimals);
  return text;
}

// "dtype=fp8 gpu_count=512": what tells this group from the others; empty where nothing does.
std::string differing(const parser::RunComparison& comparison, std::size_t group) {
  std::string text;
  for (const parser::ConfigurationDifference& difference : comparison.differences) {
    const auto& value = difference.values[group];
    text += (text.empty() ? "" : " ") + difference.key + "=" + value.value_or("(not stated)");
  }
  return text;
}

std::string standing_of(const parser::RunStanding& standing, const parser::RunSummary& summary) {
  if (!standing.exclusion.empty()) return "left out: " + standing.exclusion;
  std::string text;
  if (!summary.window_interruptions.empty()) {
    text = fmt::format("in its window {}", summary.window_interruptions);
    if (summary.steps_left_out > 0) text += fmt::format(" ({} left out)", summary.steps_left_out);
  }
  if (const auto words = parser::unknown_profile_words(summary); !words.empty()) {
    text += (text.empty() ? "" : "; ") + std::string(words);
  }
  for (const parser::RunMarkReason& mark : standing.marks) {
    text += (text.empty() ? "" : ", ") + std::string(parser::run_mark_name(mark.mark));
  }
  return text;
}

// "base (group 0)": what a reader may call it by.
std::string group_name(const parser::RunComparison& comparison, std::size_t group) {
  const std::string& name = comparison.groups[group].name;
  return name.empty() ? fmt::format("group {}", group) : fmt::format("{} (group {})", name, group);
}

std::string published_text(const parser::ComparedRun& run) {
  const parser::RunMetrics& published = run.published.metrics;
  if (!published.speed_against_reference) return "-";
  return fmt::format("{:.4f} ({} s, {}, {})", *published.speed_against_reference,
                     published.reference->step_time_s->text, published.reference->document,
                     parser::to_string(run.published.summary.window));
}

void write_runs(const ComparedSet& set, std::ostream& out) {
  TextTable table({">Id", "Run", "Status", "Window", ">Step time (s)", ">Group",
                   "Speed against published", ""});
  const std::vector<std::string> names = distinct_run_names(set.runs);
  for (std::size_t i = 0; i < set.runs.size(); ++i) {
    const parser::ComparedRun& run = set.runs[i];
    const parser::RunStanding& standing = set.comparison.runs[i];
    const parser::RunSummary& summary = run.judgement.summary;
    table.add({std::to_string(run.id), names[i],
               std::string(parser::run_status_name(summary.status)),
               parser::to_string(summary.window),
               summary.step_time_s ? fixed(summary.step_time_s->mean, 4) : "-",
               standing.group ? std::to_string(*standing.group) : "-", published_text(run),
               standing_of(standing, summary)});
  }
  table.print(out);
}

void write_groups(const parser::RunComparison& comparison, std::ostream& out) {
  TextTable table({">Group", ">Runs", ">Step time (s)", ">Tokens/s/GPU", ">TFLOPS/GPU",
                   ">Speed against published", "Published result"});
  for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
    const parser::ComparedGroup& group = comparison.groups[i];
    std::vector<std::string> cells = {std::to_string(i), std::to_string(group.runs.size())};
    for (const parser::GroupMetric& metric : group.metrics) {
      cells.push_back(with_interval(metric.estimate, decimals_of(metric.metric)));
    }
    cells.push_back(with_interval(group.speed_against_reference, 4));
    cells.push_back(standing_text(group.published_standing));
    table.add(std::move(cells));
  }
  table.print(out);
}

// Why a group has no standing, though runs of it have a published result.
void write_missing_standings(const ComparedSet& set, std::ostream& out) {
  for (std::size_t i = 0; i < set.comparison.groups.size(); ++i) {
    const parser::ComparedGroup& group = set.comparison.groups[i];
    const bool has_reference = std::ranges::any_of(group.runs, [&](const std::size_t run) {
      return set.runs[run].published.metrics.reference != nullptr;
    });
    if (!has_reference || group.published_reason.empty()) continue;
    out << fmt::format("{} has no standing: {}\n", printable(group_name(set.comparison, i)),
                       printable(group.published_reason));
  }
}

void write_differences(const parser::RunComparison& comparison, std::ostream& out) {
  if (comparison.differences.empty()) return;
  std::vector<std::string> names = {"Differs in"};
  for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
    names.push_back(printable(group_name(comparison, i)));
  }
  TextTable table(names);
  for (const parser::ConfigurationDifference& difference : comparison.differences) {
    std::vector<std::string> cells = {difference.key};
    for (const auto& value : difference.values) cells.push_back(value.value_or("(not stated)"));
    table.add(std::move(cells));
  }
  out << '\n';
  table.print(out);
}

void write_verdicts(const parser::RunComparison& comparison, std::ostream& out) {
  for (const parser::GroupComparison& group : comparison.comparisons) {
    out << fmt::format("\n{} against {}:\n", printable(group_name(comparison, group.group)),
                       printable(group_name(comparison, 0)));
    for (const parser::MetricComparison& metric : group.metrics) {
      const bool is_barred = metric.verdict == parser::ComparisonVerdict::not_comparable;
      out << "  " << parser::compared_metric_name(metric.metric) << ": "
          << (is_barred ? "not comparable. " : "") << printable(metric.text) << '\n';
    }
  }
}

// Of the side, or, where there are no sides, of all.
std::string left_out_text(const ComparedSet& set, const std::optional<std::size_t>& side) {
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < set.runs.size(); ++i) {
    const parser::RunStanding& standing = set.comparison.runs[i];
    if (!standing.exclusion.empty() && standing.side == side) left_out.push_back(i);
  }
  return parser::exclusions_text(set.runs, set.comparison, left_out);
}

// Why a group is not held against the first side, which is not there.
std::string_view reason_without_baseline(const parser::RunComparison& comparison) {
  if (comparison.missing_sides.empty()) return "";
  return comparison.missing_sides.front().reason;
}

void add_test_cells(CsvLine& line, const parser::MetricComparison& metric) {
  const auto add = [&](auto value_of) {
    line.add(metric.test ? std::optional<double>(value_of(*metric.test)) : std::nullopt);
  };
  line.add(parser::comparison_verdict_name(metric.verdict));
  add([](const auto& result) { return std::expm1(result.test.log_ratio); });
  add([](const auto& result) { return result.test.p_value; });
  add([](const auto& result) { return result.p_value_adjusted; });
  line.add(metric.text);
}

void add_interval_cells(CsvLine& line, const std::optional<parser::MetricTest>& test) {
  if (!test) return line.add_empty(5);
  line.add(test->interval.low);
  line.add(test->interval.high);
  line.add(test->mean_ratio);
  line.add_flag(test->means_differ);
  line.add_flag(test->is_equivalent);
}

void add_group_line(const ComparedSet& set, std::size_t number, std::size_t metric,
                    std::ostream& out) {
  const parser::RunComparison& comparison = set.comparison;
  const parser::ComparedGroup& group = comparison.groups[number];
  const parser::GroupMetric& measured = group.metrics[metric];
  const auto& estimate = measured.estimate.value_or(parser::MeanEstimate{});
  const bool is_baseline = number == 0 && group.side.value_or(0) == 0;
  const parser::MetricComparison untold = {measured.metric,
                                           parser::ComparisonVerdict::cannot_be_told, std::nullopt,
                                           std::string(reason_without_baseline(comparison))};
  const bool is_tested = !is_baseline && !comparison.comparisons.empty();
  const parser::MetricComparison& told =
      is_tested ? comparison.comparisons[number - 1].metrics[metric] : untold;
  CsvLine line(out);
  line.add(set.title);
  line.add(static_cast<std::int64_t>(number));
  line.add(set.runs[group.runs.front()].experiment);
  line.add(differing(comparison, number));
  line.add(parser::compared_metric_name(measured.metric));
  line.add(estimate.run_count);
  line.add(measured.estimate ? std::optional(estimate.mean) : std::nullopt);
  line.add(estimate.stddev_sample);
  line.add(estimate.low);
  line.add(estimate.high);
  const auto& speed = group.speed_against_reference;
  line.add(speed ? std::optional(speed->mean) : std::nullopt);
  if (is_baseline) {
    line.add("baseline");
    line.add_empty(3);
    line.add(measured.reason);
  } else {
    add_test_cells(line, told);
  }
  line.add(group.name);
  add_interval_cells(line, told.test);
  add_standing(line, group.published_standing);
  line.add(left_out_text(set, group.side));
}

// A side that is not there has a line all the same, or a script would not miss it.
void add_missing_line(const ComparedSet& set, const parser::MissingSide& side,
                      ComparedMetric metric, std::ostream& out) {
  CsvLine line(out);
  line.add(set.title);
  line.add_empty(3);
  line.add(parser::compared_metric_name(metric));
  line.add(std::int64_t{0});
  line.add_empty(5);
  add_test_cells(line, {metric, parser::ComparisonVerdict::cannot_be_told, {}, side.reason});
  line.add(side.name);
  add_interval_cells(line, std::nullopt);
  add_standing(line, std::nullopt);
  line.add(left_out_text(set, side.side));
}

}  // namespace

void write_comparison_table(const std::vector<ComparedSet>& sets, std::ostream& out) {
  out << "Means of runs ± the half width of their 95 % interval (Student's t on run means);\n"
         "tests are on one value a run, never on iterations.\n"
      << kStandingNote;
  for (const ComparedSet& set : sets) {
    out << '\n'
        << printable(set.title) << '\n'
        << std::string(display_width(set.title), '=') << '\n';
    write_runs(set, out);
    if (set.comparison.groups.empty()) {
      out << "\nNothing to compare: every run is left out.\n";
      continue;
    }
    out << '\n';
    write_groups(set.comparison, out);
    write_missing_standings(set, out);
    write_differences(set.comparison, out);
    write_verdicts(set.comparison, out);
    for (const parser::MissingSide& side : set.comparison.missing_sides) {
      out << '\n' << printable(side.reason) << '\n';
    }
  }
}

void write_comparison_csv(const std::vector<ComparedSet>& sets, std::ostream& out) {
  out << "set,group,experiment,differs_in,metric,run_count,mean,stddev_sample,low,high,"
         "speed_against_reference,verdict,relative_difference,p_value,p_value_adjusted,text,"
         "side,ratio_low,ratio_high,mean_ratio,means_differ,is_equivalent,"
      << kStandingColumns << ",left_out\r\n";
  for (const ComparedSet& set : sets) {
    for (std::size_t i = 0; i < set.comparison.groups.size(); ++i) {
      for (std::size_t m = 0; m < parser::kComparedMetrics.size(); ++m) {
        add_group_line(set, i, m, out);
      }
    }
    for (const parser::MissingSide& side : set.comparison.missing_sides) {
      for (const ComparedMetric metric : parser::kComparedMetrics) {
        add_missing_line(set, side, metric, out);
      }
    }
  }
}

}  // namespace llmb::report
