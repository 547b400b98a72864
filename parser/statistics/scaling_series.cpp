#include "parser/statistics/scaling_series.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "parser/foundation/name_table.h"
#include "parser/statistics/run_copies.h"

namespace llmb::parser {
namespace {

// Workload, model size, dtype, GPU type, cluster.
using SeriesKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;

SeriesKey series_key_of(const ScalingConfiguration& configuration, const TreeClusters& trees) {
  return {configuration.work.workload, configuration.work.model_size, configuration.dtype,
          configuration.gpu_type, trees.of(configuration.tree, configuration.cluster)};
}

// A run that does not say what it is may be any: it is shown as left out whatever is asked for.
bool is_wanted(const SeriesKey& key, const RunSelection& selection) {
  const auto& [workload, model_size, dtype, gpu_type, cluster] = key;
  const bool may_be_unsaid = true;
  return is_selected({workload, model_size, dtype, gpu_type, {}}, selection, may_be_unsaid);
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
std::string obstacle_to(const ScalingRuns& runs, const ScalingPoint& point,
                        const ScalingConfiguration& baseline) {
  std::unordered_set<const ScalingConfiguration*> seen;
  for (const std::size_t index : point.runs) {
    const ScalingConfiguration& configuration = *runs[index]->configuration;
    if (!seen.insert(&configuration).second) continue;
    for (const Obstacle& obstacle : obstacles_between(baseline.work, configuration.work)) {
      const auto& barred = obstacle.metrics;
      const bool is_barred =
          std::count(barred.begin(), barred.end(), ComparedMetric::tokens_per_s_per_gpu) > 0;
      if (is_barred) return obstacle.text;
    }
  }
  return "";
}

void measure_points(const ScalingRuns& runs, std::span<const NoiseRun> known,
                    std::vector<ScalingPoint>& points) {
  for (ScalingPoint& point : points) {
    std::vector<double> rates;
    std::vector<const RunAgainstPublished*> published;
    rates.reserve(point.runs.size());
    published.reserve(point.runs.size());
    for (const std::size_t index : point.runs) {
      rates.push_back(*runs[index]->tokens_per_s_per_gpu);
      published.push_back(&runs[index]->published);
    }
    point.tokens_per_s_per_gpu = estimate_mean(rates).value();
    StandingTogether together = standing_together(published, known);
    point.speed_against_reference = together.speed;
    point.published_standing = together.standing;
    point.published_reason = std::move(together.several_references);
  }
  if (points.empty()) return;
  const ScalingPoint& smallest = points.front();
  const ScalingConfiguration& baseline = *runs[smallest.runs.front()]->configuration;
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
void add_published(const Catalog& catalog, const ScalingRuns& runs,
                   const std::vector<std::size_t>& members, ScalingSeries& series) {
  const auto first = std::ranges::find_if(
      members, [&](std::size_t index) { return runs[index]->configuration->recipe != nullptr; });
  if (first == members.end()) return;
  const Recipe* const recipe = runs[*first]->configuration->recipe;
  series.document = runs[*first]->configuration->document;
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

// Why a run is left out; empty where it is in.
std::string exclusion_of(const ScalingRun& run, const RunMarkSet& included) {
  std::string reason = exclusion_reason(run.marks, included);
  return reason.empty() && !run.tokens_per_s_per_gpu ? run.tokens_reason : reason;
}

// Groups of runs by a key that each configuration has one of. Asked for once a configuration: of
// thousands of runs most are repeats.
template <typename Key>
class Groups {
 public:
  template <typename KeyOf>
  void add(const ScalingRuns& runs, std::size_t index, const KeyOf& key_of) {
    const ScalingConfiguration* const configuration = runs[index]->configuration.get();
    auto& group = by_configuration_[configuration];
    if (group == nullptr) group = &groups_[key_of(*configuration)];
    group->push_back(index);
  }

  const std::map<Key, std::vector<std::size_t>>& all() const { return groups_; }

 private:
  std::map<Key, std::vector<std::size_t>> groups_;
  std::unordered_map<const ScalingConfiguration*, std::vector<std::size_t>*> by_configuration_;
};

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
std::vector<ScalingPoint> points_of(const ScalingRuns& runs,
                                    const std::vector<std::size_t>& members) {
  using PointKey = std::tuple<std::int64_t, std::optional<std::int64_t>, Characteristics>;
  Groups<PointKey> groups;
  for (const std::size_t index : members) {
    groups.add(runs, index, [](const ScalingConfiguration& configuration) {
      return PointKey(configuration.gpu_count.value(), configuration.work.global_batch_size,
                      configuration.layout);
    });
  }
  std::vector<ScalingPoint> points;
  for (const auto& [key, indexes] : groups.all()) {
    ScalingPoint point;
    point.gpu_count = std::get<0>(key);
    point.global_batch_size = std::get<1>(key);
    point.runs = indexes;
    std::vector<const Characteristics*> of_scale;
    for (const auto& [other, others] : groups.all()) {
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

const ContentKey& content_key_of(const ScalingRun& run) {
  return run.published.noise.content_key;
}

// Why a run of a series does not count, and the run that does in its place; nothing where it
// counts.
std::optional<LeftOutRun> left_out_run(const ScalingRuns& runs, std::size_t index,
                                       const RunMarkSet& included, const RunCopies& copies) {
  const ScalingRun& run = *runs[index];
  LeftOutRun left_out = {index, run.marks, exclusion_of(run, included),
                         copies.counted_for(content_key_of(run), index)};
  if (left_out.copy_of) {
    if (!left_out.reason.empty()) left_out.reason += left_out.reason.ends_with('.') ? " " : ". ";
    left_out.reason += copy_reason(runs[*left_out.copy_of]->id);
  }
  return left_out.reason.empty() ? std::nullopt : std::optional(std::move(left_out));
}

// One series for each way in which a cluster's runs of one model differ; runs that are left out
// stand with the first of them.
void add_series(const Catalog& catalog, const ScalingRuns& runs, const SeriesKey& key,
                const std::vector<std::size_t>& indexes, const RunMarkSet& included,
                const RunCopies& copies, std::span<const NoiseRun> known, ScalingReport& report) {
  std::vector<LeftOutRun> left_out;
  Groups<Characteristics> groups;
  for (const std::size_t index : indexes) {
    if (auto one = left_out_run(runs, index, included, copies)) {
      left_out.push_back(std::move(*one));
    } else {
      groups.add(runs, index,
                 [](const ScalingConfiguration& configuration) { return configuration.series; });
    }
  }
  std::map<Characteristics, std::vector<std::size_t>> parts = groups.all();
  if (parts.empty()) parts[{}] = {};
  std::vector<const Characteristics*> all;
  all.reserve(parts.size());
  for (const auto& [characteristics, part] : parts) all.push_back(&characteristics);
  const std::size_t first = report.series.size();
  for (const auto& [characteristics, part] : parts) {
    ScalingSeries series;
    std::tie(series.workload, series.model_size, series.dtype, series.gpu_type, series.cluster) =
        key;
    series.differences = differences_of(characteristics, all);
    series.points = points_of(runs, part);
    measure_points(runs, known, series.points);
    series.kind = kind_of(series.points);
    add_published(catalog, runs, part.empty() ? indexes : part, series);
    report.series.push_back(std::move(series));
  }
  report.series[first].left_out = std::move(left_out);
}

// What the runs teach of the noise between runs, by workload: other workloads never count.
std::map<std::string, std::vector<NoiseRun>> noise_by_workload(const ScalingRuns& runs) {
  std::map<std::string, std::vector<NoiseRun>> known;
  RunCopies copies;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const NoiseRun& noise = runs[i]->published.noise;
    // Of no workload it teaches none, and takes no named copy's place.
    if (!runs[i]->teaches_noise || noise.workload.empty()) continue;
    if (copies.count(noise.content_key, i)) continue;
    known[noise.workload].push_back(noise);
  }
  return known;
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

ScalingReport scaling_series(const Catalog& catalog, const ScalingRuns& runs,
                             const RunSelection& selection, const RunMarkSet& included,
                             const TreeClusters& trees) {
  ScalingReport report;
  const RunSelection wanted = by_catalog_names(catalog, selection);
  std::unordered_map<const ScalingConfiguration*, std::optional<SeriesKey>> keys;  // of the wanted
  Groups<SeriesKey> members;
  // A log that was copied to another cluster's tree counts for each, so that what one has does not
  // hang on whether others are asked for.
  std::map<std::string, RunCopies> copies;  // by cluster
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ScalingConfiguration& configuration = *runs[i]->configuration;
    const auto [known, is_new] = keys.try_emplace(&configuration);
    if (is_new) {
      SeriesKey key = series_key_of(configuration, trees);
      if (is_wanted(key, wanted)) known->second = std::move(key);
    }
    if (!known->second) continue;
    const SeriesKey& key = *known->second;
    if (configuration.missing.empty()) {
      members.add(runs, i, [&](const ScalingConfiguration&) { return key; });
      if (exclusion_of(*runs[i], included).empty()) {
        copies[std::get<4>(key)].count(content_key_of(*runs[i]), i);
      }
    } else {
      report.unplaced.push_back({i, runs[i]->marks, configuration.missing, std::nullopt});
    }
  }
  const auto noise = noise_by_workload(runs);
  for (const auto& [key, indexes] : members.all()) {
    const auto known = noise.find(std::get<0>(key));
    add_series(catalog, runs, key, indexes, included, copies[std::get<4>(key)],
               known == noise.end() ? std::span<const NoiseRun>() : std::span(known->second),
               report);
  }
  return report;
}

}  // namespace llmb::parser
