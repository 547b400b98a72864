#include "server/report/history_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "parser/foundation/signed_percent.h"
#include "parser/statistics/run_copies.h"
#include "server/report/cluster_words.h"
#include "server/report/csv_line.h"
#include "server/report/history_json.h"
#include "server/report/text_table.h"

namespace llmb::report {
namespace {

std::string title_of(const parser::HistorySeries& series, bool with_cluster) {
  std::string title;
  const parser::RunIdentity& identity = series.identity;
  for (const std::string* const part :
       {&identity.workload, &identity.model_size, &identity.dtype, &identity.gpu_type}) {
    if (!part->empty()) title += (title.empty() ? "" : " ") + *part;
  }
  if (identity.gpu_count) title += fmt::format(" on {} GPUs", *identity.gpu_count);
  if (title.empty()) title = "runs that do not say what they train";
  return with_cluster ? title + ", " + cluster_words(series.cluster) : title;
}

// "release: 25.12 -> 26.02 (differs within a level, too)".
std::string differences_text(const std::vector<parser::HistoryDifference>& differences) {
  std::string text;
  for (const auto& difference : differences) {
    text += fmt::format("{}{}: {} -> {}{}", text.empty() ? "" : "; ", difference.key,
                        difference.before.value_or("not stated"),
                        difference.after.value_or("not stated"),
                        difference.parts_levels ? "" : " (differs within a level, too)");
  }
  return text.empty() ? "nothing that is known" : text;
}

bool stands_out(parser::NewestLevel newest) {
  return newest == parser::NewestLevel::higher || newest == parser::NewestLevel::lower;
}

// What the newest runs say; empty where they are on their level.
std::string newest_words(const parser::HistorySeries& series) {
  if (stands_out(series.newest)) {
    return fmt::format("The two newest runs are {} than their level by more than noise explains.",
                       newest_name(series.newest));
  }
  if (series.newest != parser::NewestLevel::unknown) return {};
  if (!series.changes.empty()) {
    return "Too few runs since the last change to tell whether the newest leave its level again.";
  }
  return series.runs.size() < parser::kChangeValuesMin
             ? fmt::format("Too few runs to tell a change: it takes {}.", parser::kChangeValuesMin)
             : "Too few runs to tell whether the newest are slower.";
}

std::string_view more_or_fewer(bool is_more) {
  return is_more ? "more" : "fewer";
}

// Of steps that medians do not show.
std::string newest_means_words(const parser::HistorySeries& series) {
  if (!stands_out(series.newest_means)) return {};
  return fmt::format(
      "The two newest runs have {} slow steps than those before them: their means over their "
      "medians differ by more than noise explains.",
      more_or_fewer(series.newest_means == parser::NewestLevel::higher));
}

// "drifts from run 2 on", "drifted from run 2 to run 7"; with "at least" where it may begin
// earlier.
std::string when_it_drifts(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                           std::string_view first_run) {
  const parser::HistoryDrift& drift = *series.drift;
  return fmt::format(
      "{}{} from {} {}", drift.goes_on ? "drifts" : "drifted",
      drift.may_begin_earlier ? " at least" : "", first_run,
      drift.goes_on ? "on" : fmt::format("to run {}", runs[series.runs[drift.to]]->id));
}

std::string drift_words(const parser::HistoryRuns& runs, const parser::HistorySeries& series) {
  if (!series.drift) return {};
  const parser::HistoryDrift& drift = *series.drift;
  const std::string first = fmt::format("run {}", runs[series.runs[drift.from]]->id);
  return fmt::format(
      "The step time {}: {}, {} s to {} s, {} a run.", when_it_drifts(runs, series, first),
      parser::signed_percent(drift.step_time_ratio), fixed(drift.before_s, 4),
      fixed(drift.after_s, 4), parser::signed_percent(drift.step_time_ratio_per_run, 3));
}

template <typename Change>
const Change* change_at(const std::vector<Change>& changes, std::size_t run) {
  const auto change =
      std::find_if(changes.begin(), changes.end(), [&](const auto& one) { return one.at == run; });
  return change == changes.end() ? nullptr : &*change;
}

// What begins with a run.
std::string level_words(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                        std::size_t run) {
  std::vector<std::string> words;
  if (const auto* const change = change_at(series.changes, run)) {
    words.push_back(fmt::format("{} from here on: {}",
                                parser::signed_percent(change->step_time_ratio),
                                differences_text(change->differences)));
  }
  if (series.drift && series.drift->from == run) {
    words.push_back(fmt::format("{}, {}{}", when_it_drifts(runs, series, "here"),
                                parser::signed_percent(series.drift->step_time_ratio),
                                series.drift->may_begin_earlier ? "" : " in all"));
  }
  if (const auto* const change = change_at(series.mean_changes, run)) {
    words.push_back(fmt::format("{} slow steps from here on (means {} off medians, {} before): {}",
                                more_or_fewer(change->ratio() > 1),
                                parser::signed_percent(change->mean_to_median_after),
                                parser::signed_percent(change->mean_to_median_before),
                                differences_text(change->differences)));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

void write_skipped_run(const parser::HistoryRun& run, const std::string& reason,
                       std::ostream& out) {
  out << "  left out: run " << run.id << ", "
      << printable(run.experiment.empty() ? run.path : run.experiment);
  if (run.job_id) out << " (job " << *run.job_id << ")";
  out << ": " << printable(reason) << '\n';
}

void write_skipped_runs(const parser::HistoryRuns& runs,
                        const std::vector<parser::HistoryLeftOut>& left_out, std::ostream& out) {
  for (const auto& entry : left_out) write_skipped_run(*runs[entry.run], entry.reason, out);
}

template <typename Change>
void add_differences(const Change* change, CsvLine& line) {
  const std::string text = change == nullptr ? "" : differences_text(change->differences);
  line.add(std::string_view(text));
}

void add_change(const parser::HistorySeries& series, std::size_t run, CsvLine& line) {
  const auto* const change = change_at(series.changes, run);
  line.add(change != nullptr ? std::optional(change->step_time_ratio) : std::nullopt);
  add_differences(change, line);
}

void add_drift_and_means(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                         std::size_t run, CsvLine& line) {
  const bool drifts = series.drift && series.drift->from == run;
  line.add(drifts ? std::optional(series.drift->step_time_ratio) : std::nullopt);
  line.add(drifts ? std::optional(runs[series.runs[series.drift->to]]->id) : std::nullopt);
  line.add_flag(drifts ? std::optional(series.drift->may_begin_earlier) : std::nullopt);
  const auto* const of_means = change_at(series.mean_changes, run);
  line.add(of_means != nullptr ? std::optional(of_means->ratio()) : std::nullopt);
  add_differences(of_means, line);
}

}  // namespace

void write_history_table(const parser::HistoryRuns& runs, const parser::RunHistory& history,
                         std::ostream& out) {
  const bool with_clusters = has_clusters(history.series);
  for (const parser::HistorySeries& series : history.series) {
    const std::string title = printable(title_of(series, with_clusters));
    out << '\n' << title << '\n' << std::string(display_width(title), '=') << '\n';
    TextTable table(
        {">Id", "Run", ">Job", "Started", ">Step time median (s)", ">Mean (s)", "Level"});
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const parser::HistoryRun& run = *runs[series.runs[i]];
      table.add({std::to_string(run.id), run.experiment,
                 run.job_id ? std::to_string(*run.job_id) : "-", run.launched_at.value_or("-"),
                 fixed(run.step_time_s->median, 4), fixed(run.step_time_s->mean, 4),
                 level_words(runs, series, i)});
    }
    table.print(out);
    for (const parser::HistoryCopy& copy : series.copies) {
      write_skipped_run(*runs[copy.run], parser::copy_reason(runs[copy.copy_of]->id), out);
    }
    write_skipped_runs(runs, series.left_out, out);
    if (!series.other_windows.empty()) {
      out << fmt::format(
          "Over {}; runs of the same configuration over {} are a series of their own. One --window "
          "for all of them makes it one.\n",
          series.window, fmt::join(series.other_windows, ", "));
    }
    for (const std::string& words :
         {drift_words(runs, series), newest_words(series), newest_means_words(series)}) {
      if (!words.empty()) out << words << '\n';
    }
  }
  if (history.unplaced.empty()) return;
  out << "\nIn no series, as no run of their configuration counts:\n";
  write_skipped_runs(runs, history.unplaced, out);
}

void write_history_csv(const parser::HistoryRuns& runs, const parser::RunHistory& history,
                       std::ostream& out) {
  out << "workload,model_size,dtype,gpu_type,gpu_count,global_batch_size,window,run_id,experiment,"
         "job_id,launched_at,step_time_s_mean,step_time_s_median,change_step_time_ratio,"
         "change_differences,newest,cluster,drift_step_time_ratio,drift_last_run_id,"
         "drift_may_begin_earlier,change_mean_to_median_ratio,change_mean_differences,"
         "newest_means\r\n";
  for (const parser::HistorySeries& series : history.series) {
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const parser::HistoryRun& run = *runs[series.runs[i]];
      const bool is_newest = i + 1 == series.runs.size();
      CsvLine line(out);
      const parser::RunIdentity& identity = series.identity;
      for (const std::string* const text :
           {&identity.workload, &identity.model_size, &identity.dtype, &identity.gpu_type}) {
        line.add(std::string_view(*text));
      }
      line.add(identity.gpu_count);
      line.add(series.global_batch_size);
      line.add(std::string_view(series.window));
      line.add(run.id);
      line.add(std::string_view(run.experiment));
      line.add(run.job_id);
      line.add(run.launched_at ? std::optional<std::string_view>(*run.launched_at) : std::nullopt);
      line.add(run.step_time_s->mean);
      line.add(run.step_time_s->median);
      add_change(series, i, line);
      line.add(is_newest ? newest_name(series.newest) : std::string_view());
      line.add(std::string_view(series.cluster));
      add_drift_and_means(runs, series, i, line);
      line.add(is_newest ? newest_means_name(series.newest_means) : std::string_view());
    }
  }
}

}  // namespace llmb::report
