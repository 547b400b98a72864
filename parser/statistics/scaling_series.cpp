#include "parser/statistics/scaling_series.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "parser/foundation/name_table.h"

namespace llmb::parser {
namespace {

// Workload, model size, dtype, GPU type.
using SeriesKey = std::tuple<std::string, std::string, std::string, std::string>;

std::optional<std::int64_t> gpu_count_of(const ComparedRun& run) {
  return run.judgement.match.gpu_count;
}

SeriesKey key_of(const ComparedRun& run) {
  const RecipeMatch& match = run.judgement.match;
  const std::string gpu_type =
      match.gpu_type.empty() && match.recipe != nullptr ? match.recipe->gpu_type : match.gpu_type;
  return {workload_of(run), model_size_of(run), match.dtype, gpu_type};
}

// Empty where the run has a place in a series.
std::string missing_of(const ComparedRun& run, const SeriesKey& key) {
  const auto& [workload, model_size, dtype, gpu_type] = key;
  std::string missing;
  const auto need = [&](bool is_there, std::string_view name) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  need(!workload.empty(), "workload");
  need(!model_size.empty(), "model size");
  need(!dtype.empty(), "dtype");
  need(!gpu_type.empty(), "GPU type");
  need(gpu_count_of(run).has_value(), "GPU count");
  return missing.empty() ? "" : "Neither the run nor a recipe says its " + missing + ".";
}

// A run that does not say what it is may be any: it is shown as left out whatever is asked for.
bool is_selected(const Catalog& catalog, const SeriesKey& key, const ScalingSelection& selection) {
  const auto& [workload, model_size, dtype, gpu_type] = key;
  const auto agrees = [](const std::optional<std::string>& asked, const std::string& value) {
    return !asked || value.empty() || *asked == value;
  };
  std::optional<std::string> asked_workload = selection.workload;
  if (asked_workload) {
    const Workload* const known = catalog.workload(*asked_workload);
    if (known != nullptr) asked_workload = known->workload;
  }
  return agrees(asked_workload, workload) && agrees(selection.model_size, model_size) &&
         agrees(selection.gpu_type, gpu_type) &&
         (agrees(selection.dtype, dtype) || *selection.dtype == coarse_dtype(dtype));
}

struct Scale {
  std::int64_t gpu_count = 0;
  std::optional<std::int64_t> global_batch_size;
};

ScalingKind kind_between(const Scale& smallest, const Scale& other) {
  if (!smallest.global_batch_size || !other.global_batch_size) return ScalingKind::unknown;
  const auto first = *smallest.global_batch_size;
  const auto second = *other.global_batch_size;
  if (smallest.gpu_count == other.gpu_count) {
    return first == second ? ScalingKind::baseline : ScalingKind::mixed;
  }
  if (first == second) return ScalingKind::strong;
  const bool is_weak = static_cast<double>(first) * static_cast<double>(other.gpu_count) ==
                       static_cast<double>(second) * static_cast<double>(smallest.gpu_count);
  return is_weak ? ScalingKind::weak : ScalingKind::mixed;
}

// Of the points beyond the first; that is the baseline.
ScalingKind kind_of(const std::vector<ScalingPoint>& points) {
  if (points.empty()) return ScalingKind::unknown;
  ScalingKind kind = points.front().kind;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (kind == ScalingKind::baseline) kind = points[i].kind;
    if (points[i].kind != kind) kind = ScalingKind::mixed;
  }
  return kind;
}

// Why the tokens per second of the point are not of the same work as those of `baseline`.
std::string obstacle_to(const std::vector<ComparedRun>& runs, const ScalingPoint& point,
                        const ComparedRun& baseline) {
  for (const std::size_t index : point.runs) {
    for (const Obstacle& obstacle : obstacles_between(baseline, runs[index])) {
      const auto& barred = obstacle.metrics;
      const bool is_barred =
          std::count(barred.begin(), barred.end(), ComparedMetric::tokens_per_s_per_gpu) > 0;
      if (is_barred) return obstacle.text;
    }
  }
  return "";
}

void measure_points(const std::vector<ComparedRun>& runs, std::vector<ScalingPoint>& points) {
  for (ScalingPoint& point : points) {
    std::vector<double> rates;
    std::vector<double> speeds;
    for (const std::size_t index : point.runs) {
      rates.push_back(*runs[index].judgement.metrics.derived.tokens_per_s_per_gpu.value);
      const auto& speed = runs[index].published.metrics.speed_against_reference;
      if (speed) speeds.push_back(*speed);
    }
    point.tokens_per_s_per_gpu = estimate_mean(rates).value();
    point.speed_against_reference = estimate_mean(speeds);
  }
  if (points.empty()) return;
  const ScalingPoint& smallest = points.front();
  const ComparedRun& baseline = runs[smallest.runs.front()];
  const std::string own_obstacle = obstacle_to(runs, smallest, baseline);
  const double base_rate = smallest.tokens_per_s_per_gpu.mean;
  for (ScalingPoint& point : points) {
    point.kind = kind_between({points.front().gpu_count, points.front().global_batch_size},
                              {point.gpu_count, point.global_batch_size});
    if (&point == &points.front()) point.kind = ScalingKind::baseline;
    point.efficiency_reason =
        own_obstacle.empty() ? obstacle_to(runs, point, baseline) : own_obstacle;
    if (point.efficiency_reason.empty()) {
      point.efficiency = point.tokens_per_s_per_gpu.mean / base_rate;
    }
  }
}

// The document of the first run that has one: the runs come in the caller's order.
void add_published(const Catalog& catalog, const std::vector<ComparedRun>& runs,
                   const std::vector<std::size_t>& members, ScalingSeries& series) {
  const Recipe* recipe = nullptr;
  for (const std::size_t index : members) {
    const RecipeMatch& match = runs[index].judgement.match;
    if (recipe == nullptr && match.recipe != nullptr) {
      recipe = match.recipe;
      series.document = match.document;
    }
  }
  if (recipe == nullptr) return;
  std::map<std::int64_t, PublishedPoint> points;
  for (const Reference& reference : catalog.references) {
    const bool is_same = reference.document == recipe->document &&
                         reference.model_size == recipe->model_size &&
                         reference.gpu_type == series.gpu_type && reference.step_time_s &&
                         coarse_dtype(reference.dtype) == coarse_dtype(series.dtype);
    const Recipe* const row = is_same ? catalog.recipe_of(reference) : nullptr;
    if (row == nullptr || row->is_proxy) continue;
    const auto batch = reference.global_batch_size
                           ? reference.global_batch_size
                           : row->global_batch_size.value(reference.gpu_count);
    if (!batch) continue;
    const auto found = points.find(reference.gpu_count);
    // fp8_cs stands beside fp8_cs where the document has it, and beside fp8 where not.
    if (found != points.end() && reference.dtype != series.dtype) continue;
    PublishedPoint& point = points[reference.gpu_count];
    point.reference = &reference;
    point.global_batch_size = *batch;
    const auto sequence_length = reference.sequence_length.value_or(row->sequence_length);
    point.tokens_per_s_per_gpu = static_cast<double>(sequence_length) *
                                 static_cast<double>(*batch) / reference.step_time_s->value /
                                 static_cast<double>(reference.gpu_count);
  }
  for (const auto& [gpu_count, point] : points) {
    series.published.push_back(point);
    const PublishedPoint& smallest = series.published.front();
    series.published.back().kind =
        kind_between({smallest.reference->gpu_count, smallest.global_batch_size},
                     {gpu_count, point.global_batch_size});
    series.published.back().efficiency = point.tokens_per_s_per_gpu / smallest.tokens_per_s_per_gpu;
  }
}

// Into its point, or to those left out.
void place_run(const std::vector<ComparedRun>& runs, std::size_t index, const RunMarkSet& included,
               ScalingSeries& series) {
  const ComparedRun& run = runs[index];
  LeftOutRun left_out{index, marks_of(run), ""};
  left_out.reason = exclusion_reason(left_out.marks, included);
  const Metric& rate = run.judgement.metrics.derived.tokens_per_s_per_gpu;
  if (left_out.reason.empty() && !rate.value) left_out.reason = rate.reason;
  if (!left_out.reason.empty()) {
    series.left_out.push_back(std::move(left_out));
    return;
  }
  const std::int64_t gpu_count = gpu_count_of(run).value();
  const auto batch = global_batch_size_of(run);
  auto& points = series.points;
  auto point = std::find_if(points.begin(), points.end(), [&](const ScalingPoint& candidate) {
    return candidate.gpu_count == gpu_count && candidate.global_batch_size == batch;
  });
  if (point == points.end()) {
    point = points.insert(points.end(), ScalingPoint{});
    point->gpu_count = gpu_count;
    point->global_batch_size = batch;
  }
  point->runs.push_back(index);
}

constexpr auto kKinds = name_table<ScalingKind>({
    {ScalingKind::unknown, "unknown"},
    {ScalingKind::baseline, "baseline"},
    {ScalingKind::weak, "weak"},
    {ScalingKind::strong, "strong"},
    {ScalingKind::mixed, "mixed"},
});

}  // namespace

std::string_view scaling_kind_name(ScalingKind kind) {
  return kKinds.name(kind);
}

ScalingReport scaling_series(const Catalog& catalog, const std::vector<ComparedRun>& runs,
                             const ScalingSelection& selection, const RunMarkSet& included) {
  ScalingReport report;
  std::map<SeriesKey, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SeriesKey key = key_of(runs[i]);
    if (!is_selected(catalog, key, selection)) continue;
    std::string missing = missing_of(runs[i], key);
    if (missing.empty()) {
      members[key].push_back(i);
    } else {
      report.unplaced.push_back({i, marks_of(runs[i]), std::move(missing)});
    }
  }
  for (const auto& [key, indexes] : members) {
    ScalingSeries series;
    std::tie(series.workload, series.model_size, series.dtype, series.gpu_type) = key;
    for (const std::size_t index : indexes) place_run(runs, index, included, series);
    std::sort(series.points.begin(), series.points.end(),
              [](const ScalingPoint& a, const ScalingPoint& b) {
                return std::tie(a.gpu_count, a.global_batch_size) <
                       std::tie(b.gpu_count, b.global_batch_size);
              });
    measure_points(runs, series.points);
    series.kind = kind_of(series.points);
    add_published(catalog, runs, indexes, series);
    report.series.push_back(std::move(series));
  }
  return report;
}

}  // namespace llmb::parser
