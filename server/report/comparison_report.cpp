#include "server/report/comparison_report.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "parser/statistics/unknown_profile.h"
#include "server/report/csv_line.h"
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
    text += (text.empty() ? "" : " ") + difference.key + "=" + value.value_or("?");
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

// "not decided: between 0.9931 and 1.0123"
std::string standing_text(const std::optional<parser::PublishedStanding>& standing) {
  if (!standing) return "-";
  switch (standing->verdict) {
    case parser::StandingVerdict::reached:
      return fmt::format("reached: {:.4f} or more", standing->low);
    case parser::StandingVerdict::not_reached:
      return fmt::format("not reached: {:.4f} or less", standing->high);
    case parser::StandingVerdict::not_decided:
      break;
  }
  return fmt::format("not decided: {:.4f} to {:.4f}", standing->low, standing->high);
}

void write_runs(const ComparedSet& set, std::ostream& out) {
  TextTable table({">Id", "Run", "Status", "Window", ">Step time (s)", ">Group",
                   "Speed against published", ""});
  for (std::size_t i = 0; i < set.runs.size(); ++i) {
    const parser::ComparedRun& run = set.runs[i];
    const parser::RunStanding& standing = set.comparison.runs[i];
    const parser::RunSummary& summary = run.judgement.summary;
    table.add({std::to_string(run.id), run.experiment,
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

}  // namespace

void write_comparison_table(const std::vector<ComparedSet>& sets, std::ostream& out) {
  out << "Means of runs ± the half width of their 95 % interval (Student's t on run means);\n"
         "tests are on one value a run, never on iterations.\n";
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
    write_differences(set.comparison, out);
    write_verdicts(set.comparison, out);
  }
}

void write_comparison_csv(const std::vector<ComparedSet>& sets, std::ostream& out) {
  out << "set,group,experiment,differs_in,metric,run_count,mean,stddev_sample,low,high,"
         "speed_against_reference,verdict,relative_difference,p_value,p_value_adjusted,text\r\n";
  for (const ComparedSet& set : sets) {
    const parser::RunComparison& comparison = set.comparison;
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
      const parser::ComparedGroup& group = comparison.groups[i];
      for (std::size_t m = 0; m < group.metrics.size(); ++m) {
        const auto& estimate = group.metrics[m].estimate.value_or(parser::MeanEstimate{});
        CsvLine line(out);
        line.add(set.title);
        line.add(static_cast<std::int64_t>(i));
        line.add(set.runs[group.runs.front()].experiment);
        line.add(differing(comparison, i));
        line.add(parser::compared_metric_name(group.metrics[m].metric));
        line.add(estimate.run_count);
        line.add(group.metrics[m].estimate ? std::optional(estimate.mean) : std::nullopt);
        line.add(estimate.stddev_sample);
        line.add(estimate.low);
        line.add(estimate.high);
        line.add(group.speed_against_reference ? std::optional(group.speed_against_reference->mean)
                                               : std::nullopt);
        if (i == 0) {
          line.add("baseline");
          for (int rest = 0; rest < 3; ++rest) line.add_empty();
          line.add(group.metrics[m].reason);
          continue;
        }
        const parser::MetricComparison& metric = comparison.comparisons[i - 1].metrics[m];
        line.add(parser::comparison_verdict_name(metric.verdict));
        const auto add_test = [&](auto value_of) {
          line.add(metric.test ? std::optional<double>(value_of(*metric.test)) : std::nullopt);
        };
        add_test([](const auto& result) { return std::expm1(result.test.log_ratio); });
        add_test([](const auto& result) { return result.test.p_value; });
        add_test([](const auto& result) { return result.p_value_adjusted; });
        line.add(metric.text);
      }
    }
  }
}

}  // namespace llmb::report
