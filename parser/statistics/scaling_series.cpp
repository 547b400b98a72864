#include "parser/statistics/scaling_series.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
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

void measure_points(const std::vector<ComparedRun>& runs, std::span<const NoiseRun> known,
                    std::vector<ScalingPoint>& points) {
  for (ScalingPoint& point : points) {
    std::vector<double> rates;
    for (const std::size_t index : point.runs) {
      rates.push_back(*runs[index].judgement.metrics.derived.tokens_per_s_per_gpu.value);
    }
    point.tokens_per_s_per_gpu = estimate_mean(rates).value();
    point.speed_against_reference = estimate_mean(speeds_against_reference(runs, point.runs));
    point.published_standing = standing_of(runs, point.runs, known);
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

// What a series has one of anyway, or what changes with the scale.
constexpr std::array<std::string_view, 10> kOfEverySeries = {
    "workload", "workload_type", "model",      "model_size", "dtype",
    "gpu_type", "gpu_count",     "node_count", "rank_count", "global_batch_size"};
// Chosen anew for each scale: a point has one layout, a series may have several.
constexpr std::array<std::string_view, 11> kOfLayout = {
    "tensor_parallel",        "pipeline_parallel", "context_parallel", "virtual_pipeline",
    "expert_parallel",        "data_parallel",     "micro_batch_size", "layer_count",
    "expert_tensor_parallel", "sequence_length",   "rank_slice"};

template <typename Names>
bool is_among(const Names& names, std::string_view key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

// A run that has a place: what it is besides its scale, in two parts.
struct Member {
  std::size_t run = 0;
  std::vector<RunMarkReason> marks;
  std::string exclusion;   // why it is left out; empty where it is in
  Characteristics series;  // tells one series from another
  Characteristics layout;  // tells one point of a scale from another
};

Member member_of(const std::vector<ComparedRun>& runs, std::size_t index,
                 const RunMarkSet& included) {
  const ComparedRun& run = runs[index];
  Member member;
  member.run = index;
  member.marks = marks_of(run);
  member.exclusion = exclusion_reason(member.marks, included);
  const Metric& rate = run.judgement.metrics.derived.tokens_per_s_per_gpu;
  if (member.exclusion.empty() && !rate.value) member.exclusion = rate.reason;
  for (auto& [key, value] : characteristics_of(run, member.marks)) {
    if (is_among(kOfEverySeries, key)) continue;
    (is_among(kOfLayout, key) ? member.layout : member.series)[key] = value;
  }
  return member;
}

// In what `own` differs from the others: those keys that not all of `all` have with one value.
std::vector<DifferingValue> differences_of(const Characteristics& own,
                                           const std::vector<const Characteristics*>& all) {
  std::set<std::string> keys;
  for (const Characteristics* const one : all) {
    for (const auto& [key, value] : *one) keys.insert(key);
  }
  const auto value_in = [](const Characteristics& one, const std::string& key) {
    const auto found = one.find(key);
    return found == one.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<DifferingValue> differences;
  for (const std::string& key : keys) {
    const auto value = value_in(own, key);
    const bool differs = std::any_of(all.begin(), all.end(), [&](const Characteristics* other) {
      return value_in(*other, key) != value;
    });
    if (differs) differences.push_back({key, value});
  }
  return differences;
}

// The points of one series: one for each scale, global batch size and layout.
std::vector<ScalingPoint> points_of(const std::vector<ComparedRun>& runs,
                                    const std::vector<const Member*>& members) {
  using PointKey = std::tuple<std::int64_t, std::optional<std::int64_t>, Characteristics>;
  std::map<PointKey, std::vector<std::size_t>> groups;
  for (const Member* const member : members) {
    const ComparedRun& run = runs[member->run];
    groups[{gpu_count_of(run).value(), global_batch_size_of(run), member->layout}].push_back(
        member->run);
  }
  std::vector<ScalingPoint> points;
  for (const auto& [key, indexes] : groups) {
    ScalingPoint point;
    point.gpu_count = std::get<0>(key);
    point.global_batch_size = std::get<1>(key);
    point.runs = indexes;
    std::vector<const Characteristics*> of_scale;
    for (const auto& [other, others] : groups) {
      const bool is_same_scale =
          std::get<0>(other) == point.gpu_count && std::get<1>(other) == point.global_batch_size;
      if (is_same_scale) of_scale.push_back(&std::get<2>(other));
    }
    point.differences = differences_of(std::get<2>(key), of_scale);
    points.push_back(std::move(point));
  }
  return points;
}

constexpr auto kKinds = name_table<ScalingKind>({
    {ScalingKind::unknown, "unknown"},
    {ScalingKind::baseline, "baseline"},
    {ScalingKind::weak, "weak"},
    {ScalingKind::strong, "strong"},
    {ScalingKind::mixed, "mixed"},
});

// One series for each way in which runs of one model differ; runs that are left out stand with the
// first of them.
void add_series(const Catalog& catalog, const std::vector<ComparedRun>& runs, const SeriesKey& key,
                const std::vector<std::size_t>& indexes, const RunMarkSet& included,
                std::span<const NoiseRun> known, ScalingReport& report) {
  std::vector<Member> members;
  members.reserve(indexes.size());
  for (const std::size_t index : indexes) members.push_back(member_of(runs, index, included));
  std::map<Characteristics, std::vector<const Member*>> parts;
  for (const Member& member : members) {
    if (member.exclusion.empty()) parts[member.series].push_back(&member);
  }
  if (parts.empty()) parts[{}] = {};
  std::vector<const Characteristics*> all;
  all.reserve(parts.size());
  for (const auto& [characteristics, part] : parts) all.push_back(&characteristics);
  const std::size_t first = report.series.size();
  for (const auto& [characteristics, part] : parts) {
    ScalingSeries series;
    std::tie(series.workload, series.model_size, series.dtype, series.gpu_type) = key;
    series.differences = differences_of(characteristics, all);
    series.points = points_of(runs, part);
    measure_points(runs, known, series.points);
    series.kind = kind_of(series.points);
    std::vector<std::size_t> own;
    for (const Member* const member : part) own.push_back(member->run);
    add_published(catalog, runs, own.empty() ? indexes : own, series);
    report.series.push_back(std::move(series));
  }
  for (Member& member : members) {
    if (member.exclusion.empty()) continue;
    report.series[first].left_out.push_back(
        {member.run, std::move(member.marks), std::move(member.exclusion)});
  }
}

}  // namespace

std::string differences_text(const std::vector<DifferingValue>& differences) {
  std::string text;
  for (const DifferingValue& difference : differences) {
    text +=
        (text.empty() ? "" : ", ") + difference.key + " " + difference.value.value_or("not stated");
  }
  return text;
}

std::string_view scaling_kind_name(ScalingKind kind) {
  return kKinds.name(kind);
}

ScalingReport scaling_series(const Catalog& catalog, const std::vector<ComparedRun>& runs,
                             const ScalingSelection& selection, const RunMarkSet& included) {
  ScalingReport report;
  const std::vector<NoiseRun> known = noise_runs(runs);
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
  for (const auto& [key, indexes] : members)
    add_series(catalog, runs, key, indexes, included, known, report);
  return report;
}

}  // namespace llmb::parser
