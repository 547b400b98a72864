#include "parser/statistics/noise_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "parser/foundation/content_hash.h"
#include "parser/statistics/repeat_noise.h"
#include "parser/statistics/run_copies.h"
#include "parser/statistics/step_scatter.h"

namespace llmb::parser {
namespace {

// Of a step, where nothing tells how the steps of a run scatter: so much that only what nobody
// would call noise is a difference.
constexpr double kUnknownDeviation = 0.05;

// More teach nothing new, and cost time.
constexpr std::size_t kGroupsMax = 60;

std::uint64_t hash_of(const Characteristics& characteristics) {
  std::uint64_t hash = kFnv1aBasis;
  for (const auto& [key, value] : characteristics) {
    for (const std::string_view part : {std::string_view(key), std::string_view("="),
                                        std::string_view(value), std::string_view("\n")}) {
      hash = fnv1a(part, hash);
    }
  }
  return hash;
}

// The runs that are tested: which logs they are, and of which configurations.
class TestedRuns {
 public:
  explicit TestedRuns(std::span<const NoiseRun* const> runs) : first_(*runs.front()) {
    double squares = 0;
    double largest = 0;
    double steps = 0;
    for (const NoiseRun* const run : runs) {
      ids_.insert(run->id);
      configurations_.insert(run->configuration);
      windows_.insert(run->window);
      copies_.count(run->content_key, 0);
      const double deviation = run->sampling_deviation.value_or(kUnknownDeviation);
      knows_scatter_ = knows_scatter_ && run->sampling_deviation.has_value();
      shows_scatter_ = shows_scatter_ && !is_too_short_for_scatter(run->step_count);
      squares += deviation * deviation;
      largest = std::max(largest, deviation * deviation);
      steps += static_cast<double>(run->step_count);
    }
    sampling_variance_ = shows_scatter_ ? squares / static_cast<double>(runs.size()) : largest;
    step_count_ = std::max(1.0, steps / static_cast<double>(runs.size()));
  }

  // One of them, or a copy.
  bool has(const NoiseRun& run) const {
    return ids_.contains(run.id) || copies_.counted_for(run.content_key, kNone).has_value();
  }
  bool has_configuration_of(const NoiseRun& run) const {
    return configurations_.contains(run.configuration);
  }
  bool has_window(std::string_view window) const { return windows_.contains(window); }
  const NoiseRun& first() const { return first_; }
  double sampling_variance() const { return sampling_variance_; }
  // Whatever others tell: a single step may be a slow one.
  double least_variance() const { return shows_scatter_ ? 0 : sampling_variance_; }
  bool knows_scatter() const { return knows_scatter_; }  // of the steps of each
  bool shows_scatter() const { return shows_scatter_; }  // in the window of each
  double step_count() const { return step_count_; }      // of a window

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  const NoiseRun& first_;
  std::unordered_set<std::int64_t> ids_;
  std::unordered_set<std::uint64_t> configurations_;
  RunCopies copies_;
  std::unordered_set<std::string_view> windows_;
  double sampling_variance_ = 0;
  bool knows_scatter_ = true;
  bool shows_scatter_ = true;
  double step_count_ = 1;
};

// Their locations compare: runs of one configuration over one window.
using RepeatKey = std::pair<std::uint64_t, std::string_view>;
RepeatKey repeat_key_of(const NoiseRun& run) {
  return {run.configuration, run.window};
}

// As if each step told a third of what one tells that is independent of the one before it: but the
// first of a window is.
double independent_steps(double count) {
  return 1 + (count - 1) / 3;
}

struct EstimatedVariance {
  double variance = 0;
  double degrees_of_freedom = 1;
};

// By how much the variance of the tested runs is more than that of others, for their windows hold
// fewer steps. The scatter of the steps is told by these, for there are more of them; where they do
// not know theirs, by the tested ones.
EstimatedVariance variance_of_fewer_steps(std::span<const NoiseRun* const> repeats,
                                          const TestedRuns& tested) {
  double squares = 0;
  double steps = 0;
  bool know_scatter = true;
  for (const NoiseRun* const run : repeats) {
    const double deviation = run->sampling_deviation.value_or(0);
    know_scatter = know_scatter && run->sampling_deviation.has_value();
    squares += deviation * deviation;
    steps += static_cast<double>(run->step_count);
  }
  const auto count = static_cast<double>(repeats.size());
  const double known = independent_steps(steps / count);
  const double of_tested = independent_steps(tested.step_count());
  const double variance =
      know_scatter ? squares / count : tested.sampling_variance() * of_tested / known;
  return {variance * std::max(0.0, known / of_tested - 1), std::max(1.0, count * known)};
}

// The sum of two estimated variances has the degrees of freedom of Satterthwaite (1946).
EstimatedVariance sum_of(const EstimatedVariance& own, const EstimatedVariance& added) {
  const double sum = own.variance + added.variance;
  return {sum, sum * sum /
                   (own.variance * own.variance / own.degrees_of_freedom +
                    added.variance * added.variance / added.degrees_of_freedom)};
}

void add(RepeatNoise& noise, const EstimatedVariance& added) {
  if (noise.degrees_of_freedom <= 0 || added.variance <= 0) return;
  const EstimatedVariance sum =
      sum_of({noise.squares / noise.degrees_of_freedom, noise.degrees_of_freedom}, added);
  noise.degrees_of_freedom = sum.degrees_of_freedom;
  noise.squares = sum.variance * sum.degrees_of_freedom;
}

// By id where their starts say no order.
std::vector<const NoiseRun*> sorted_by_start(std::vector<const NoiseRun*> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const NoiseRun* a, const NoiseRun* b) { return a->id < b->id; });
  std::vector<RunStart> starts;
  starts.reserve(runs.size());
  for (const NoiseRun* const run : runs) starts.push_back(run->start);
  const auto order = order_of(starts);
  if (!order) return runs;
  std::vector<const NoiseRun*> sorted;
  sorted.reserve(runs.size());
  for (const std::size_t i : *order) sorted.push_back(runs[i]);
  return sorted;
}

// The tested runs have their places among the others: over them a level drifts on.
std::vector<RepeatNoise> repeats_of(std::span<const NoiseRun> known, const TestedRuns& tested) {
  std::map<RepeatKey, std::vector<const NoiseRun*>> by_configuration;
  for (const NoiseRun& run : known) {
    if (tested.has_configuration_of(run)) by_configuration[repeat_key_of(run)].push_back(&run);
  }
  std::vector<RepeatNoise> repeats;
  for (const auto& [key, all] : by_configuration) {
    std::vector<const NoiseRun*> runs;
    std::vector<double> locations;
    std::vector<double> places;
    double place = 0;
    for (const NoiseRun* const run : sorted_by_start(all)) {
      ++place;
      if (tested.has(*run)) continue;
      runs.push_back(run);
      locations.push_back(run->log_location);
      places.push_back(place);
    }
    if (runs.empty()) continue;
    RepeatNoise noise = noise_of_repeats(locations, places);
    if (!tested.has_window(key.second)) add(noise, variance_of_fewer_steps(runs, tested));
    noise.squares = std::max(noise.squares, noise.degrees_of_freedom * tested.least_variance());
    repeats.push_back(noise);
  }
  return repeats;
}

// How they deviate over a window of as many steps as that of the tested ones.
NoiseGroup group_of(std::span<const NoiseRun* const> runs, const TestedRuns& tested) {
  std::int64_t count = 0;
  double mean = 0;
  double squares = 0;
  for (const NoiseRun* const run : runs) {
    ++count;
    const double change = run->log_location - mean;
    mean += change / static_cast<double>(count);
    squares += change * (run->log_location - mean);
  }
  double variance = squares / static_cast<double>(count - 1);
  if (!tested.has_window(runs.front()->window)) {
    variance += variance_of_fewer_steps(runs, tested).variance;
  }
  return {std::sqrt(std::max(variance, tested.least_variance())), count};
}

// Of other configurations than the tested ones, whose repeats count by themselves.
std::vector<NoiseGroup> groups_of(std::span<const NoiseRun> known, const TestedRuns& tested,
                                  const std::function<bool(const NoiseRun&)>& is_near) {
  std::map<RepeatKey, std::vector<const NoiseRun*>> by_configuration;
  for (const NoiseRun& run : known) {
    const bool counts_itself = tested.has_configuration_of(run) || tested.has(run);
    if (counts_itself || !is_near(run)) continue;
    by_configuration[repeat_key_of(run)].push_back(&run);
  }
  std::vector<NoiseGroup> groups;
  for (const auto& [configuration, runs] : by_configuration) {
    if (runs.size() < 2) continue;
    groups.push_back(group_of(runs, tested));
    if (groups.size() == kGroupsMax) break;
  }
  return groups;
}

// Of public runs, whose windows are long. That single steps scatter is known well, but not whether
// runs do as much: with these degrees of freedom equal runs that differ by up to twice as much as
// their steps are called different in less than 5 %, one against one.
constexpr double kOfSingleSteps = 2;
RunNoise with_short_windows(RunNoise noise, const TestedRuns& tested) {
  if (tested.sampling_variance() == 0) return noise;
  const EstimatedVariance sum = sum_of({noise.stddev * noise.stddev, noise.degrees_of_freedom},
                                       {tested.sampling_variance(), kOfSingleSteps});
  noise.stddev = std::sqrt(sum.variance);
  // Longer windows show so little of it that how much runs differ is not known any better.
  if (!tested.shows_scatter()) noise.degrees_of_freedom = sum.degrees_of_freedom;
  noise.source = "public runs and of few steps";
  if (!tested.knows_scatter()) noise.source += " whose scatter is not known";
  return noise;
}

RunNoise noise_of_others(const TestedRuns& tested, std::span<const NoiseRun> known) {
  const NoiseRun& like = tested.first();
  // What neither of two runs says may differ.
  const auto is_same = [](const std::string& own, const std::string& others) {
    return !own.empty() && own == others;
  };
  const auto same_workload = [&](const NoiseRun& run) {
    return is_same(run.workload, like.workload);
  };
  const auto same_gpu = [&](const NoiseRun& run) {
    return same_workload(run) && is_same(run.gpu_type, like.gpu_type);
  };
  auto groups = groups_of(known, tested, [&](const NoiseRun& run) {
    return same_gpu(run) && is_same(run.gpu_count, like.gpu_count);
  });
  if (suffices_for_noise(groups)) {
    return learn_run_noise(groups, "runs of the same workload, GPU and scale");
  }
  groups = groups_of(known, tested, same_gpu);
  if (suffices_for_noise(groups)) {
    return learn_run_noise(groups, "runs of the same workload and GPU");
  }
  groups = groups_of(known, tested, same_workload);
  if (suffices_for_noise(groups)) return learn_run_noise(groups, "runs of the same workload");
  return with_short_windows(public_run_noise(), tested);
}

std::optional<double> sampling_deviation_over(const ComparedRun& run, const RunSummary& summary) {
  const auto& times = summary.step_time_s;
  if (!times || !(times->median > 0)) return 0;
  const double steps = std::sqrt(independent_steps(static_cast<double>(times->count)));
  if (is_too_short_for_scatter(times->count)) {
    if (!run.steady_steps) return std::nullopt;
    // It may be a slow step, which its neighbours tell.
    const double off = std::abs(std::log(times->median / run.steady_steps->step_time_s));
    return std::max(off, run.steady_steps->scatter / steps);
  }
  constexpr double kMedian = 1.2533;  // of a median, over that of a mean
  return kMedian * step_scatter_of(*times) / steps;
}

// `judgement`: one of the run's.
NoiseRun noise_over(const ComparedRun& run, const Judgement& judgement,
                    const std::vector<RunMarkReason>& marks) {
  // Only marks of the work tell repeats apart: how a run ended does not change how the steps before
  // that deviate, and what its numbers are worth (on_cpu, implausible) is no configuration.
  std::vector<RunMarkReason> of_work;
  for (const RunMarkReason& mark : marks) {
    if (mark.mark <= RunMark::proxy) of_work.push_back(mark);
  }
  Characteristics characteristics = characteristics_of(run, of_work);
  characteristics.erase("window");
  const auto& times = judgement.summary.step_time_s;
  const RunIdentity identity = identity_of(run);
  return {.id = run.id,
          .configuration = hash_of(characteristics),
          .window = to_string(judgement.summary.window),
          .workload = identity.workload,
          .gpu_type = identity.gpu_type,
          .gpu_count = identity.gpu_count ? fmt::to_string(*identity.gpu_count) : "",
          .log_location = times && times->median > 0 ? std::log(times->median) : 0,
          .start = start_of(run),
          .content_key = run.content_key,
          .sampling_deviation = sampling_deviation_over(run, judgement.summary),
          .step_count = times ? times->count : 0};
}

bool teaches_noise_over(const Judgement& judgement, const std::vector<RunMarkReason>& marks) {
  const auto& times = judgement.summary.step_time_s;
  return exclusion_reason(marks, {}).empty() && times && times->median > 0;
}

std::vector<NoiseRun> noise_runs_over(const std::vector<ComparedRun>& runs,
                                      Judgement ComparedRun::*judgement) {
  std::vector<NoiseRun> known;
  RunCopies copies;
  std::vector<std::size_t> teaching;
  for (const std::size_t i : counting_order(stated_counts_of(runs))) {
    const Judgement& own = runs[i].*judgement;
    if (!teaches_noise_over(own, marks_over(runs[i], own))) continue;
    if (!copies.count(runs[i].content_key, i)) teaching.push_back(i);
  }
  std::ranges::sort(teaching);  // as they were given
  for (const std::size_t i : teaching) {
    const Judgement& own = runs[i].*judgement;
    known.push_back(noise_over(runs[i], own, marks_over(runs[i], own)));
  }
  return known;
}

}  // namespace

NoiseRun published_noise_run(const ComparedRun& run) {
  return noise_over(run, run.published, marks_over(run, run.published));
}

bool teaches_published_noise(const ComparedRun& run) {
  return teaches_noise_over(run.published, marks_over(run, run.published));
}

std::vector<NoiseRun> noise_runs(const std::vector<ComparedRun>& runs) {
  return noise_runs_over(runs, &ComparedRun::judgement);
}

std::vector<NoiseRun> published_noise_runs(const std::vector<ComparedRun>& runs) {
  return noise_runs_over(runs, &ComparedRun::published);
}

RunNoise noise_for(std::span<const NoiseRun* const> tested, std::span<const NoiseRun> known) {
  const TestedRuns runs(tested);
  return with_repeats(noise_of_others(runs, known), repeats_of(known, runs));
}

RunNoise noise_for(std::span<const ComparedRun* const> tested, std::span<const NoiseRun> known) {
  std::vector<NoiseRun> runs;
  runs.reserve(tested.size());
  for (const ComparedRun* const run : tested)
    runs.push_back(noise_over(*run, run->judgement, marks_of(*run)));
  std::vector<const NoiseRun*> pointers;
  pointers.reserve(runs.size());
  for (const NoiseRun& run : runs) pointers.push_back(&run);
  return noise_for(pointers, known);
}

}  // namespace llmb::parser
