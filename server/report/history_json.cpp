#include "server/report/history_json.h"

#include <string_view>

#include "server/report/comparison_json.h"
#include "server/report/json.h"
#include "server/report/run_json.h"

namespace llmb::report {
namespace {

Json change_json(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                 const parser::HistoryChange& change) {
  Json json;
  json["at"] = change.at;
  json["run_id"] = runs[series.runs[change.at]]->id;
  json["previous_run_id"] = runs[series.runs[change.at - 1]]->id;
  json["verdict"] = change.step_time_ratio > 1 ? "slower" : "faster";
  json["step_time_s_before"] = number(change.before_s);
  json["step_time_s_after"] = number(change.after_s);
  json["step_time_ratio"] = number(change.step_time_ratio);
  json["differences"] = Json::array();
  for (const auto& difference : change.differences) {
    json["differences"].push_back({{"key", difference.key},
                                   {"before", nullable(difference.before)},
                                   {"after", nullable(difference.after)},
                                   {"parts_levels", difference.parts_levels}});
  }
  return json;
}

Json run_json(const parser::HistoryRun& run) {
  const auto& times = run.step_time_s;
  return {{"id", run.id},
          {"experiment", run.experiment},
          {"job_id", nullable(run.job_id)},
          {"launched_at", nullable(run.launched_at)},
          {"step_time_s_mean", number(times->mean)},
          {"step_time_s_median", number(times->median)}};
}

Json skipped_runs_json(const parser::HistoryRuns& runs,
                       const std::vector<parser::HistoryLeftOut>& left_out) {
  Json list = Json::array();
  for (const parser::HistoryLeftOut& entry : left_out) {
    const parser::HistoryRun& run = *runs[entry.run];
    list.push_back({{"id", run.id},
                    {"experiment", run.experiment},
                    {"job_id", nullable(run.job_id)},
                    {"path", run.path},
                    {"launched_at", nullable(run.launched_at)},
                    {"marks", marks_json(run.marks)},
                    {"reason", entry.reason}});
  }
  return list;
}

Json copy_json(const parser::HistoryRuns& runs, const parser::HistoryCopy& copy) {
  const parser::HistoryRun& run = *runs[copy.run];
  return {{"id", run.id},
          {"experiment", run.experiment},
          {"job_id", nullable(run.job_id)},
          {"launched_at", nullable(run.launched_at)},
          {"copy_of", runs[copy.copy_of]->id}};
}

}  // namespace

std::string_view newest_name(parser::NewestLevel newest) {
  switch (newest) {
    case parser::NewestLevel::steady:
      return "steady";
    case parser::NewestLevel::higher:
      return "slower";
    case parser::NewestLevel::lower:
      return "faster";
    case parser::NewestLevel::unknown:
      break;
  }
  return "unknown";
}

Json history_json(const parser::HistoryRuns& runs, const parser::RunHistory& history) {
  Json json;
  json["method"] = parser::kHistoryMethod;
  json["series"] = Json::array();
  for (const parser::HistorySeries& series : history.series) {
    Json one;
    add_identity(one, series.identity);
    one["global_batch_size"] = nullable(series.global_batch_size);
    one["window"] = series.window;
    one["other_windows"] = series.other_windows;
    one["cluster"] = null_if_empty(series.cluster);
    one["newest"] = newest_name(series.newest);
    one["runs"] = Json::array();
    for (const std::size_t index : series.runs) one["runs"].push_back(run_json(*runs[index]));
    one["copies"] = Json::array();
    for (const auto& copy : series.copies) one["copies"].push_back(copy_json(runs, copy));
    one["left_out"] = skipped_runs_json(runs, series.left_out);
    one["changes"] = Json::array();
    for (const parser::HistoryChange& change : series.changes) {
      one["changes"].push_back(change_json(runs, series, change));
    }
    json["series"].push_back(std::move(one));
  }
  json["unplaced"] = skipped_runs_json(runs, history.unplaced);
  return json;
}

}  // namespace llmb::report
