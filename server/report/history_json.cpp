#include "server/report/history_json.h"

#include <string_view>

#include "server/report/comparison_json.h"
#include "server/report/json.h"
#include "server/report/run_json.h"

namespace llmb::report {
namespace {

Json differences_json(const std::vector<parser::HistoryDifference>& differences) {
  Json list = Json::array();
  for (const auto& difference : differences) {
    list.push_back({{"key", difference.key},
                    {"before", nullable(difference.before)},
                    {"after", nullable(difference.after)},
                    {"parts_levels", difference.parts_levels}});
  }
  return list;
}

std::string_view verdict_of(double step_time_ratio) {
  return step_time_ratio > 1 ? "slower" : "faster";
}

// What slow steps add does not say which way the means go: the medians may change there, too.
constexpr std::string_view kMoreSlowSteps = "more_slow_steps";
constexpr std::string_view kFewerSlowSteps = "fewer_slow_steps";

// Where it is, by the first run after it.
Json place_json(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                std::size_t at) {
  Json json;
  json["at"] = at;
  json["run_id"] = runs[series.runs[at]]->id;
  json["previous_run_id"] = runs[series.runs[at - 1]]->id;
  return json;
}

Json change_json(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                 const parser::HistoryChange& change) {
  Json json = place_json(runs, series, change.at);
  json["verdict"] = verdict_of(change.step_time_ratio);
  json["step_time_s_before"] = number(change.before_s);
  json["step_time_s_after"] = number(change.after_s);
  json["step_time_ratio"] = number(change.step_time_ratio);
  json["differences"] = differences_json(change.differences);
  return json;
}

Json mean_change_json(const parser::HistoryRuns& runs, const parser::HistorySeries& series,
                      const parser::HistoryMeanChange& change) {
  Json json = place_json(runs, series, change.at);
  json["verdict"] = change.ratio() > 1 ? kMoreSlowSteps : kFewerSlowSteps;
  json["mean_to_median_before"] = number(change.mean_to_median_before);
  json["mean_to_median_after"] = number(change.mean_to_median_after);
  json["step_time_s_mean_before"] = number(change.mean_before_s);
  json["step_time_s_mean_after"] = number(change.mean_after_s);
  json["differences"] = differences_json(change.differences);
  return json;
}

Json drift_json(const parser::HistoryRuns& runs, const parser::HistorySeries& series) {
  if (!series.drift) return nullptr;
  const parser::HistoryDrift& drift = *series.drift;
  Json json;
  json["at"] = drift.from;
  json["run_id"] = runs[series.runs[drift.from]]->id;
  json["last_at"] = drift.to;
  json["last_run_id"] = runs[series.runs[drift.to]]->id;
  json["verdict"] = verdict_of(drift.step_time_ratio);
  json["may_begin_earlier"] = drift.may_begin_earlier;
  json["goes_on"] = drift.goes_on;
  json["step_time_s_before"] = number(drift.before_s);
  json["step_time_s_after"] = number(drift.after_s);
  json["step_time_ratio"] = number(drift.step_time_ratio);
  json["step_time_ratio_per_run"] = number(drift.step_time_ratio_per_run);
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
    case parser::NewestLevel::drifting:
      return "drifting";
    case parser::NewestLevel::unknown:
      break;
  }
  return "unknown";
}

std::string_view newest_means_name(parser::NewestLevel newest) {
  if (newest == parser::NewestLevel::higher) return kMoreSlowSteps;
  if (newest == parser::NewestLevel::lower) return kFewerSlowSteps;
  return newest_name(newest);
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
    one["newest_means"] = newest_means_name(series.newest_means);
    one["runs"] = Json::array();
    for (const std::size_t index : series.runs) one["runs"].push_back(run_json(*runs[index]));
    one["copies"] = Json::array();
    for (const auto& copy : series.copies) one["copies"].push_back(copy_json(runs, copy));
    one["left_out"] = skipped_runs_json(runs, series.left_out);
    one["changes"] = Json::array();
    for (const parser::HistoryChange& change : series.changes) {
      one["changes"].push_back(change_json(runs, series, change));
    }
    one["drift"] = drift_json(runs, series);
    one["mean_changes"] = Json::array();
    for (const parser::HistoryMeanChange& change : series.mean_changes) {
      one["mean_changes"].push_back(mean_change_json(runs, series, change));
    }
    json["series"].push_back(std::move(one));
  }
  json["unplaced"] = skipped_runs_json(runs, history.unplaced);
  return json;
}

}  // namespace llmb::report
