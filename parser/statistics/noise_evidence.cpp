#include "parser/statistics/noise_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "parser/statistics/repeat_noise.h"
#include "parser/statistics/student_t.h"

namespace llmb::parser {
namespace {

// More teach nothing new, and cost time.
constexpr std::size_t kGroupsMax = 60;

std::string text_of(const Characteristics& characteristics) {
  std::string text;
  for (const auto& [key, value] : characteristics) {
    text.append(key).append("=").append(value).append("\n");
  }
  return text;
}

bool is_same_log(const ComparedRun& tested, const NoiseRun& known) {
  if (tested.id == known.id) return true;
  return !known.content_key.empty() && tested.content_key == known.content_key;
}

using Configurations = std::set<std::string, std::less<>>;

Configurations configurations_of(std::span<const ComparedRun* const> runs) {
  Configurations configurations;
  for (const ComparedRun* const run : runs) {
    configurations.insert(text_of(characteristics_of(*run, marks_of(*run))));
  }
  return configurations;
}

bool is_one_of(std::span<const ComparedRun* const> tested, const NoiseRun& run) {
  return std::any_of(tested.begin(), tested.end(),
                     [&](const ComparedRun* const other) { return is_same_log(*other, run); });
}

std::vector<RepeatNoise> repeats_of(std::span<const NoiseRun> known,
                                    std::span<const ComparedRun* const> tested,
                                    const Configurations& configurations) {
  std::map<std::string_view, std::vector<const NoiseRun*>> by_configuration;
  for (const NoiseRun& run : known) {
    if (!configurations.contains(run.configuration) || is_one_of(tested, run)) continue;
    by_configuration[run.configuration].push_back(&run);
  }
  std::vector<RepeatNoise> repeats;
  for (auto& [configuration, runs] : by_configuration) {
    std::stable_sort(runs.begin(), runs.end(), [](const NoiseRun* a, const NoiseRun* b) {
      return std::tie(a->start, a->id) < std::tie(b->start, b->id);
    });
    std::vector<double> locations;
    for (const NoiseRun* const run : runs) locations.push_back(run->log_location);
    repeats.push_back(noise_of_repeats(locations));
  }
  return repeats;
}

// Of other configurations than the tested ones, whose repeats count by themselves.
std::vector<NoiseGroup> groups_of(std::span<const NoiseRun> known,
                                  std::span<const ComparedRun* const> tested,
                                  const Configurations& configurations,
                                  const std::function<bool(const NoiseRun&)>& is_near) {
  struct Sums {
    std::int64_t count = 0;
    double mean = 0;
    double squares = 0;
  };
  std::map<std::string_view, Sums> by_configuration;
  for (const NoiseRun& run : known) {
    const bool counts_itself = configurations.contains(run.configuration) || is_one_of(tested, run);
    if (counts_itself || !is_near(run)) continue;
    Sums& sums = by_configuration[run.configuration];
    ++sums.count;
    const double change = run.log_location - sums.mean;
    sums.mean += change / static_cast<double>(sums.count);
    sums.squares += change * (run.log_location - sums.mean);
  }
  std::vector<NoiseGroup> groups;
  for (const auto& [configuration, sums] : by_configuration) {
    if (sums.count < 2) continue;
    groups.push_back({std::sqrt(sums.squares / static_cast<double>(sums.count - 1)), sums.count});
    if (groups.size() == kGroupsMax) break;
  }
  return groups;
}

// Slurm's ids rise from job to job of one cluster.
std::string start_of(const ComparedRun& run) {
  if (run.launched_at) return *run.launched_at;
  return run.job_id ? fmt::format("{:020}", *run.job_id) : "";
}

// Of public runs, whose windows are long.
RunNoise with_short_windows(RunNoise noise, std::span<const ComparedRun* const> tested) {
  double squares = 0;
  for (const ComparedRun* const run : tested) {
    const double deviation = sampling_deviation_of(*run);
    squares += deviation * deviation;
  }
  if (squares == 0) return noise;
  noise.stddev = std::hypot(noise.stddev, std::sqrt(squares / static_cast<double>(tested.size())));
  noise.source = "public runs and of few steps";
  return noise;
}

RunNoise noise_of_others(std::span<const ComparedRun* const> tested,
                         std::span<const NoiseRun> known, const Configurations& configurations) {
  const ComparedRun& like = *tested.front();
  const std::string workload = workload_of(like);
  const std::string gpu_type = like.configuration.value("gpu_type").value_or("");
  const std::string gpu_count = like.configuration.value("gpu_count").value_or("");
  const auto same_workload = [&](const NoiseRun& run) { return run.workload == workload; };
  const auto same_gpu = [&](const NoiseRun& run) {
    return same_workload(run) && run.gpu_type == gpu_type;
  };
  auto groups = groups_of(known, tested, configurations, [&](const NoiseRun& run) {
    return same_gpu(run) && run.gpu_count == gpu_count;
  });
  if (suffices_for_noise(groups)) {
    return learn_run_noise(groups, "runs of the same workload, GPU and scale");
  }
  groups = groups_of(known, tested, configurations, same_gpu);
  if (suffices_for_noise(groups)) {
    return learn_run_noise(groups, "runs of the same workload and GPU");
  }
  groups = groups_of(known, tested, configurations, same_workload);
  if (suffices_for_noise(groups)) return learn_run_noise(groups, "runs of the same workload");
  return with_short_windows(public_run_noise(), tested);
}

}  // namespace

double sampling_deviation_of(const ComparedRun& run) {
  const auto& times = run.judgement.summary.step_time_s;
  if (!times || times->count < 3 || !(times->median > 0)) return 0;
  const auto count = static_cast<double>(times->count);
  // Both sides of the median, each in standard deviations of a normal one: slow steps widen the
  // upper side only, a single fast one the lower.
  constexpr double kP95 = 1.645;
  constexpr double kMany = 1e6;  // degrees of freedom: as good as normal
  const double lowest = student_t_quantile(2 * (count - 0.375) / (count + 0.25) - 1, kMany);
  const double scatter =
      std::min((times->p95 - times->median) / kP95, (times->median - times->min) / lowest);
  constexpr double kMedian = 1.2533;      // of a median, over that of a mean
  constexpr double kCorrelated = 1.7321;  // sqrt(3)
  return kMedian * kCorrelated * std::max(0.0, scatter) / times->median / std::sqrt(count);
}

std::vector<NoiseRun> noise_runs(const std::vector<ComparedRun>& runs) {
  std::vector<NoiseRun> known;
  std::set<std::string_view> contents;
  for (const ComparedRun& run : runs) {
    const auto marks = marks_of(run);
    if (!exclusion_reason(marks, {}).empty()) continue;
    if (!run.content_key.empty() && !contents.insert(run.content_key).second) continue;
    const auto location = log_location_of(run, ComparedMetric::step_time_s);
    if (!location) continue;
    known.push_back({run.id, text_of(characteristics_of(run, marks)), workload_of(run),
                     run.configuration.value("gpu_type").value_or(""),
                     run.configuration.value("gpu_count").value_or(""), *location, start_of(run),
                     run.content_key});
  }
  return known;
}

RunNoise noise_for(std::span<const ComparedRun* const> tested, std::span<const NoiseRun> known) {
  const Configurations configurations = configurations_of(tested);
  return with_repeats(noise_of_others(tested, known, configurations),
                      repeats_of(known, tested, configurations));
}

}  // namespace llmb::parser
