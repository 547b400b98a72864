#include "server/report/history_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "server/report/json.h"
#include "server/report/text_table.h"

namespace llmb::report {
namespace {

using parser::NewestLevel;

const char* newest_name(NewestLevel newest) {
  switch (newest) {
    case NewestLevel::steady:
      return "steady";
    case NewestLevel::higher:
      return "slower";
    case NewestLevel::lower:
      return "faster";
    case NewestLevel::unknown:
      break;
  }
  return "unknown";
}

Json change_json(const std::vector<parser::ComparedRun>& runs, const parser::HistorySeries& series,
                 const parser::HistoryChange& change) {
  Json json;
  json["at"] = change.at;
  json["run_id"] = runs[series.runs[change.at]].id;
  json["previous_run_id"] = runs[series.runs[change.at - 1]].id;
  json["verdict"] = change.step_time_ratio > 1 ? "slower" : "faster";
  json["step_time_s_before"] = number(change.before_s);
  json["step_time_s_after"] = number(change.after_s);
  json["step_time_ratio"] = number(change.step_time_ratio);
  json["differences"] = Json::array();
  for (const auto& difference : change.differences) {
    json["differences"].push_back({{"key", difference.key},
                                   {"before", nullable(difference.before)},
                                   {"after", nullable(difference.after)}});
  }
  return json;
}

Json run_json(const parser::ComparedRun& run) {
  const auto& times = run.judgement.summary.step_time_s;
  return {{"id", run.id},
          {"experiment", run.experiment},
          {"job_id", nullable(run.job_id)},
          {"launched_at", nullable(run.launched_at)},
          {"step_time_s_mean", number(times->mean)},
          {"step_time_s_median", number(times->median)}};
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::string title_of(const parser::HistorySeries& series) {
  std::string title;
  for (const std::string* const part :
       {&series.workload, &series.model_size, &series.dtype, &series.gpu_type}) {
    if (!part->empty()) title += (title.empty() ? "" : " ") + *part;
  }
  if (!series.gpu_count.empty()) title += " on " + series.gpu_count + " GPUs";
  return title.empty() ? "runs that do not say what they train" : title;
}

std::string differences_text(const parser::HistoryChange& change) {
  std::string text;
  for (const auto& difference : change.differences) {
    text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", difference.key,
                        difference.before.value_or("not stated"),
                        difference.after.value_or("not stated"));
  }
  return text.empty() ? "nothing that is known" : text;
}

}  // namespace

Json history_json(const std::vector<parser::ComparedRun>& runs,
                  const std::vector<parser::HistorySeries>& history) {
  Json json;
  json["method"] = parser::kHistoryMethod;
  json["series"] = Json::array();
  for (const parser::HistorySeries& series : history) {
    Json one;
    one["workload"] = null_if_empty(series.workload);
    one["model_size"] = null_if_empty(series.model_size);
    one["dtype"] = null_if_empty(series.dtype);
    one["gpu_type"] = null_if_empty(series.gpu_type);
    one["gpu_count"] = nullable(whole_number(series.gpu_count));
    one["global_batch_size"] = nullable(series.global_batch_size);
    one["window"] = series.window;
    one["newest"] = newest_name(series.newest);
    one["runs"] = Json::array();
    for (const std::size_t index : series.runs) one["runs"].push_back(run_json(runs[index]));
    one["changes"] = Json::array();
    for (const parser::HistoryChange& change : series.changes) {
      one["changes"].push_back(change_json(runs, series, change));
    }
    json["series"].push_back(std::move(one));
  }
  return json;
}

void write_history_table(const std::vector<parser::ComparedRun>& runs,
                         const std::vector<parser::HistorySeries>& history, std::ostream& out) {
  for (const parser::HistorySeries& series : history) {
    const std::string title = printable(title_of(series));
    out << '\n' << title << '\n' << std::string(display_width(title), '=') << '\n';
    TextTable table({">Id", "Run", ">Job", "Started", ">Step time (s)", "Level"});
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const parser::ComparedRun& run = runs[series.runs[i]];
      const auto change = std::find_if(series.changes.begin(), series.changes.end(),
                                       [&](const auto& one) { return one.at == i; });
      table.add(
          {std::to_string(run.id), run.experiment, run.job_id ? std::to_string(*run.job_id) : "-",
           run.launched_at.value_or("-"), fixed(run.judgement.summary.step_time_s->median, 4),
           change == series.changes.end()
               ? ""
               : fmt::format("{:+.2f} % from here on: {}", 100 * (change->step_time_ratio - 1),
                             differences_text(*change))});
    }
    table.print(out);
    if (series.newest == NewestLevel::higher || series.newest == NewestLevel::lower) {
      out << "The two newest runs are " << newest_name(series.newest)
          << " than their level by more than noise explains.\n";
    }
  }
}

}  // namespace llmb::report
