#include "server/report/scaling_json.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "server/report/catalog_json.h"
#include "server/report/comparison_json.h"
#include "server/report/json.h"

namespace llmb::report {
namespace {

Json identity_json(const parser::ScalingRun& run) {
  return {{"id", run.id},
          {"experiment", run.experiment},
          {"job_id", nullable(run.job_id)},
          {"path", run.path},
          {"launched_at", nullable(run.launched_at)},
          {"grown_at", nullable(run.grown_at)},
          {"window", run.configuration->work.window}};
}

// When a run was launched, or else when it last gave a sign.
std::tuple<std::string_view, std::int64_t> time_of(const parser::ScalingRun& run) {
  const auto& at = run.launched_at ? run.launched_at : run.grown_at;
  return {at ? std::string_view(*at) : std::string_view(), run.id};
}

// The newest of `indexes`, in their order.
std::vector<std::size_t> newest_of(const parser::ScalingRuns& runs,
                                   std::vector<std::size_t> indexes, std::size_t runs_max) {
  if (indexes.size() <= runs_max) return indexes;
  const auto end = indexes.begin() + static_cast<std::ptrdiff_t>(runs_max);
  std::ranges::nth_element(indexes, end, std::ranges::greater(),
                           [&](std::size_t index) { return time_of(*runs[index]); });
  indexes.erase(end, indexes.end());
  std::ranges::sort(indexes);
  return indexes;
}

Json differences_json(const std::vector<parser::DifferingValue>& differences) {
  Json list = Json::array();
  for (const parser::DifferingValue& difference : differences) {
    list.push_back({{"key", difference.key}, {"value", nullable(difference.value)}});
  }
  return list;
}

Json point_json(const parser::ScalingRuns& runs, const parser::ScalingPoint& point,
                std::size_t runs_max) {
  Json json;
  json["gpu_count"] = point.gpu_count;
  json["global_batch_size"] = nullable(point.global_batch_size);
  json["scaling"] = parser::scaling_kind_name(point.kind);
  json["differences"] = differences_json(point.differences);
  json["tokens_per_s_per_gpu"] = mean_estimate_json(point.tokens_per_s_per_gpu);
  json["efficiency"] = number(point.efficiency);
  json["efficiency_reason"] = null_if_empty(point.efficiency_reason);
  json["speed_against_reference"] =
      point.speed_against_reference ? mean_estimate_json(point.speed_against_reference) : Json();
  json["published_standing"] = published_standing_json(point.published_standing);
  json["runs"] = Json::array();
  for (const std::size_t index : newest_of(runs, point.runs, runs_max)) {
    Json run = identity_json(*runs[index]);
    run["tokens_per_s_per_gpu"] = number(runs[index]->tokens_per_s_per_gpu);
    json["runs"].push_back(std::move(run));
  }
  return json;
}

Json published_json(const parser::PublishedPoint& point) {
  return {{"gpu_count", point.reference->gpu_count},
          {"global_batch_size", point.global_batch_size},
          {"scaling", parser::scaling_kind_name(point.kind)},
          {"tokens_per_s_per_gpu", number(point.tokens_per_s_per_gpu)},
          {"efficiency", number(point.efficiency)},
          {"reference", reference_json(*point.reference)}};
}

// Runs that are left out for the same marks, or as copies, by number of GPUs; each with its place
// in the list.
using LeftOutKey = std::tuple<std::optional<std::int64_t>, std::vector<parser::RunMark>, bool>;
using LeftOutGroups = std::map<LeftOutKey, std::map<std::size_t, std::size_t>>;

LeftOutGroups groups_of(const parser::ScalingRuns& runs,
                        const std::vector<parser::LeftOutRun>& left_out) {
  LeftOutGroups groups;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    LeftOutKey key;
    auto& [gpu_count, marks, are_copies] = key;
    gpu_count = runs[left_out[i].run]->configuration->gpu_count;
    for (const parser::RunMarkReason& mark : left_out[i].marks) marks.push_back(mark.mark);
    are_copies = left_out[i].copy_of.has_value();
    groups[std::move(key)].emplace(left_out[i].run, i);
  }
  return groups;
}

template <typename Marks>
Json names_of(const Marks& marks) {
  Json names = Json::array();
  for (const parser::RunMark mark : marks) names.push_back(parser::run_mark_name(mark));
  return names;
}

Json left_out_groups_json(const LeftOutGroups& groups) {
  Json list = Json::array();
  for (const auto& [key, members] : groups) {
    const auto& [gpu_count, marks, are_copies] = key;
    list.push_back({{"gpu_count", nullable(gpu_count)},
                    {"marks", names_of(marks)},
                    {"are_copies", are_copies},
                    {"run_count", members.size()}});
  }
  return list;
}

Json left_out_json(const parser::ScalingRuns& runs, const std::vector<parser::LeftOutRun>& left_out,
                   const LeftOutGroups& groups, std::size_t runs_max) {
  std::vector<std::size_t> named;  // places in the list
  for (const auto& [key, members] : groups) {
    std::vector<std::size_t> indexes;
    for (const auto& [index, place] : members) indexes.push_back(index);
    for (const std::size_t index : newest_of(runs, std::move(indexes), runs_max)) {
      named.push_back(members.at(index));
    }
  }
  std::ranges::sort(named);
  Json list = Json::array();
  for (const std::size_t place : named) {
    const parser::LeftOutRun& entry = left_out[place];
    Json run = identity_json(*runs[entry.run]);
    run["gpu_count"] = nullable(runs[entry.run]->configuration->gpu_count);
    run["marks"] = marks_json(entry.marks);
    run["reason"] = entry.reason;
    run["tokens_per_s_per_gpu"] = number(runs[entry.run]->tokens_per_s_per_gpu);
    run["copy_of"] = entry.copy_of ? Json(runs[*entry.copy_of]->id) : Json();
    list.push_back(std::move(run));
  }
  return list;
}

// Of any run: superseded ones stand with others, what is marked otherwise is another series.
Json marks_of_points(const parser::ScalingRuns& runs,
                     const std::vector<parser::ScalingPoint>& points) {
  std::set<parser::RunMark> marks;
  for (const parser::ScalingPoint& point : points) {
    for (const std::size_t index : point.runs) {
      for (const parser::RunMarkReason& mark : runs[index]->marks) marks.insert(mark.mark);
    }
  }
  return names_of(marks);
}

Json series_json(const parser::ScalingRuns& runs, const parser::ScalingSeries& series,
                 std::size_t runs_max) {
  Json json;
  json["workload"] = series.workload;
  json["model_size"] = series.model_size;
  json["dtype"] = series.dtype;
  json["gpu_type"] = series.gpu_type;
  json["cluster"] = null_if_empty(series.cluster);
  json["differences"] = differences_json(series.differences);
  json["scaling"] = parser::scaling_kind_name(series.kind);
  json["marks"] = marks_of_points(runs, series.points);
  json["points"] = Json::array();
  for (const auto& point : series.points) {
    json["points"].push_back(point_json(runs, point, runs_max));
  }
  const LeftOutGroups groups = groups_of(runs, series.left_out);
  json["left_out"] = left_out_json(runs, series.left_out, groups, runs_max);
  json["left_out_groups"] = left_out_groups_json(groups);
  json["document"] = series.document == nullptr ? Json(nullptr) : Json(series.document->id);
  json["published"] = Json::array();
  for (const auto& point : series.published) json["published"].push_back(published_json(point));
  return json;
}

}  // namespace

Json scaling_json(const parser::ScalingRuns& runs, const parser::ScalingReport& report,
                  std::size_t runs_max) {
  Json json;
  json["method"] = parser::kScalingMethod;
  json["confidence"] = parser::kConfidence;
  json["series"] = Json::array();
  for (const auto& series : report.series) {
    json["series"].push_back(series_json(runs, series, runs_max));
  }
  const LeftOutGroups groups = groups_of(runs, report.unplaced);
  json["unplaced"] = left_out_json(runs, report.unplaced, groups, runs_max);
  json["unplaced_groups"] = left_out_groups_json(groups);
  return json;
}

}  // namespace llmb::report
