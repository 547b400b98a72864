#include "server/report/history_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

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
std::string differences_text(const parser::HistoryChange& change) {
  std::string text;
  for (const auto& difference : change.differences) {
    text += fmt::format("{}{}: {} -> {}{}", text.empty() ? "" : "; ", difference.key,
                        difference.before.value_or("not stated"),
                        difference.after.value_or("not stated"),
                        difference.parts_levels ? "" : " (differs within a level, too)");
  }
  return text.empty() ? "nothing that is known" : text;
}

// What the newest runs say; empty where they are on their level.
std::string newest_words(const parser::HistorySeries& series) {
  switch (series.newest) {
    case parser::NewestLevel::steady:
      return {};
    case parser::NewestLevel::higher:
    case parser::NewestLevel::lower:
      return fmt::format("The two newest runs are {} than their level by more than noise explains.",
                         newest_name(series.newest));
    case parser::NewestLevel::unknown:
      break;
  }
  if (!series.changes.empty()) {
    return "Too few runs since the last change to tell whether the newest are slower.";
  }
  return series.runs.size() < parser::kChangeValuesMin
             ? fmt::format("Too few runs to tell a change: it takes {}.", parser::kChangeValuesMin)
             : "Too few runs to tell whether the newest are slower.";
}

const parser::HistoryChange* change_at(const parser::HistorySeries& series, std::size_t run) {
  const auto change = std::find_if(series.changes.begin(), series.changes.end(),
                                   [&](const auto& one) { return one.at == run; });
  return change == series.changes.end() ? nullptr : &*change;
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

}  // namespace

void write_history_table(const parser::HistoryRuns& runs, const parser::RunHistory& history,
                         std::ostream& out) {
  const bool with_clusters = has_clusters(history.series);
  for (const parser::HistorySeries& series : history.series) {
    const std::string title = printable(title_of(series, with_clusters));
    out << '\n' << title << '\n' << std::string(display_width(title), '=') << '\n';
    TextTable table({">Id", "Run", ">Job", "Started", ">Step time median (s)", "Level"});
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const parser::HistoryRun& run = *runs[series.runs[i]];
      const parser::HistoryChange* const change = change_at(series, i);
      table.add(
          {std::to_string(run.id), run.experiment, run.job_id ? std::to_string(*run.job_id) : "-",
           run.launched_at.value_or("-"), fixed(run.step_time_s->median, 4),
           change == nullptr
               ? ""
               : fmt::format("{:+.2f} % from here on: {}", 100 * (change->step_time_ratio - 1),
                             differences_text(*change))});
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
    const std::string newest = newest_words(series);
    if (!newest.empty()) out << newest << '\n';
  }
  if (history.unplaced.empty()) return;
  out << "\nIn no series, as no run of their configuration counts:\n";
  write_skipped_runs(runs, history.unplaced, out);
}

void write_history_csv(const parser::HistoryRuns& runs, const parser::RunHistory& history,
                       std::ostream& out) {
  out << "workload,model_size,dtype,gpu_type,gpu_count,global_batch_size,window,run_id,experiment,"
         "job_id,launched_at,step_time_s_mean,step_time_s_median,change_step_time_ratio,"
         "change_differences,newest,cluster\r\n";
  for (const parser::HistorySeries& series : history.series) {
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const parser::HistoryRun& run = *runs[series.runs[i]];
      const parser::HistoryChange* const change = change_at(series, i);
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
      line.add(change != nullptr ? std::optional(change->step_time_ratio) : std::nullopt);
      const std::string differing = change != nullptr ? differences_text(*change) : std::string();
      line.add(std::string_view(differing));
      line.add(i + 1 == series.runs.size() ? newest_name(series.newest) : std::string_view());
      line.add(std::string_view(series.cluster));
    }
  }
}

}  // namespace llmb::report
