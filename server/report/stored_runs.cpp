#include "server/report/stored_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "parser/catalog/recipe_match.h"
#include "parser/foundation/instant.h"
#include "parser/foundation/text.h"
#include "parser/statistics/step_scatter.h"
#include "parser/statistics/unknown_profile.h"
#include "server/report/filter_values.h"
#include "storage/tail_state.h"

namespace llmb::report {
namespace {

// Bounds the memory of one request.
constexpr std::int64_t kStepsInWindowMax = 200'000;

constexpr std::int64_t kNoiseRunsMax = 200;
constexpr std::int64_t kRepeatsAskedMax = 40;  // more than count (kRepeatsMax), and those tested

// Of a log that was read here. Empty where its ends, or what was read, are not known.
std::string bytes_key_of(storage::Reader& reader, const storage::RunRecord& run,
                         const storage::LogEnds& ends) {
  if (ends.head_hash == 0 || !ends.tail_hash) return "";
  const auto cursor = reader.cursor(run.id);
  const auto state = cursor ? storage::decode_tail_state(cursor->parser_state) : std::nullopt;
  if (!state) return "";
  return fmt::format("{:x} {:x} {} {}", state->content_hash, cursor->tail_hash, cursor->offset,
                     run.size_bytes);
}

// At most: what of each segment can lie in the window.
std::int64_t steps_in_window_at_most(const parser::LogFacts& facts, const parser::Window& window) {
  std::int64_t sum = 0;
  for (const parser::SegmentFacts& segment : facts.segments) {
    const std::int64_t first = std::max(segment.first_iteration, window.first_iteration);
    const std::int64_t last = std::min(segment.last_iteration, window.last_iteration);
    if (first <= last) sum += std::min(segment.step_count, last - first + 1);
  }
  return sum;
}

// Without samples: good for the stored window only.
parser::RunToJudge as_stored(const storage::RunRecord& run) {
  return {.facts = run.facts,
          .configuration = run.configuration,
          .samples = {},
          .logged_batch = parser::LoggedBatch{run.logged_global_batch_size},
          .known_summary = &run.summary};
}

parser::RunToJudge with_samples(storage::Reader& reader, const storage::RunRecord& run,
                                std::span<const parser::StepSample> samples) {
  parser::RunToJudge log = as_stored(run);
  log.samples = [samples](const parser::Window&) { return samples; };
  log.may_still_grow = run.summary.status == parser::RunStatus::running;
  if (run.summary.silent_s) {
    const auto times_s = reader.latest_step_times_s(run.id, parser::kTypicalSteps);
    log.silence = {*run.summary.silent_s, parser::typical_step_time_s(times_s),
                   parser::parse_instant(run.grown_at)};
  }
  return log;
}

bool was_profiled(const storage::RunRecord& run) {
  return run.is_profiled || run.configuration.value("profile_enabled") == "true";
}

}  // namespace

parser::Result<parser::Judgement> judge_stored_run(storage::Reader& reader,
                                                   const storage::RunRecord& run,
                                                   const parser::Catalog& catalog,
                                                   const parser::JudgingOptions& options) {
  const parser::RunToJudge stored = as_stored(run);
  auto assigned = parser::assign_window(catalog, stored, options.window);
  const parser::Window window = assigned.summary.window;
  if (window == run.summary.window && options.without.empty()) {
    return parser::judge_window(catalog, stored, std::move(assigned), options);
  }
  if (steps_in_window_at_most(run.facts, window) > kStepsInWindowMax) {
    return parser::fail(fmt::format("Window {} holds more than {} steps of this run; ask for less.",
                                    parser::to_string(window), kStepsInWindowMax));
  }
  // A list's record lacks the events, which tell how a run ended.
  const auto found = reader.run(run.id);
  const storage::RunRecord& whole = found ? *found : run;
  const auto samples = reader.steps(run.id, window);
  auto judgement = parser::judge_window(catalog, with_samples(reader, whole, samples),
                                        std::move(assigned), options);
  tell_unknown_profile(judgement.summary, was_profiled(run), options.without);
  return judgement;
}

parser::Judgement judge_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                   std::span<const parser::StepSample> samples,
                                   const parser::Catalog& catalog,
                                   const parser::JudgingOptions& options) {
  return parser::judge_run(catalog, with_samples(reader, run, samples), options);
}

namespace {

// Over no window yet.
parser::ComparedRun describe(storage::Reader& reader, const storage::RunRecord& run) {
  parser::ComparedRun compared;
  compared.id = run.id;
  compared.experiment = run.path.experiment;
  compared.job_id = run.path.job_id;
  compared.path = run.relative_path;
  compared.tree = run.root_id;
  compared.cluster = run.cluster;
  compared.launched_at = run.path.launched_at;
  compared.grown_at = run.grown_at;
  compared.content_key = content_key_of(reader, run);
  compared.configuration = run.configuration;
  compared.dialect = run.facts.dialect;
  compared.has_profiles = run.is_profiled;
  compared.nccl_trace_seen = run.facts.nccl_trace_seen;
  compared.is_superseded = run.is_superseded;
  return compared;
}

}  // namespace

parser::Result<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, const storage::RunRecord& run, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked, const parser::StepInterruptionSet& without) {
  parser::JudgingOptions options = {std::nullopt, parser::kTokensToTrainDefault};
  auto published = judge_stored_run(reader, run, catalog, options);
  if (!published) return tl::unexpected(published.error());
  parser::ComparedRun compared = describe(reader, run);
  // The stored window is the chosen one, unless it was chosen by another catalog.
  const bool has_own_window = !asked && published->summary.window != run.summary.window;
  if (!asked && !has_own_window && without.empty()) {
    compared.judgement = *published;
  } else {
    options.window = has_own_window ? parser::AskedWindow{run.summary.window} : asked;
    options.without = without;
    auto own = judge_stored_run(reader, run, catalog, options);
    if (!own) return tl::unexpected(own.error());
    compared.judgement = std::move(*own);
    if (has_own_window) compared.judgement.window_source = run.window_source;
  }
  compared.published = std::move(*published);
  const auto is_short = [](const parser::Judgement& judgement) {
    const auto& times = judgement.summary.step_time_s;
    return times && parser::is_too_short_for_scatter(times->count);
  };
  if (is_short(compared.judgement) || is_short(compared.published)) {
    compared.steady_steps =
        parser::steady_steps_of(reader.latest_step_times_s(run.id, parser::kNewestSteps));
  }
  return compared;
}

parser::ComparedRun unmeasured_run(storage::Reader& reader, const storage::RunRecord& run,
                                   const parser::Catalog& catalog,
                                   const std::optional<parser::AskedWindow>& asked,
                                   const std::string& why) {
  parser::ComparedRun compared = describe(reader, run);
  compared.judgement = parser::assign_window(catalog, as_stored(run), asked);
  compared.judgement.summary.status = parser::RunStatus::no_data;
  compared.judgement.summary.status_reason = why;
  compared.judgement.metrics.derived.tokens_per_s_per_gpu.reason = why;
  compared.published = compared.judgement;
  return compared;
}

parser::ContentKey content_key_of(storage::Reader& reader, const storage::RunRecord& run) {
  const auto& times = run.summary.step_time_s;
  if (!times) return {};
  const storage::LogEnds ends = reader.log_ends(run.id);
  if (ends.head_hash == 0) return {};
  parser::ContentKey key;
  key.by_bytes = bytes_key_of(reader, run, ends);
  if (times->count >= storage::kStepsThatTell) {
    key.by_times =
        fmt::format("{:x} {} {} {} {} {} {} {}", ends.head_hash, ends.head_length, run.size_bytes,
                    times->count, times->mean, times->stddev_sample, times->min, times->max);
  }
  return key;
}

namespace {

// Of runs that look alike, by what their logs hold; each is read once.
class ByBytes {
 public:
  explicit ByBytes(storage::Reader& reader) : reader_(reader) {}

  // The first that looks as `run` does and has the same bytes: itself, where it counts, and where
  // they are not known.
  storage::RunId first_of(storage::RunId run) {
    const std::string bytes = of(run);
    if (bytes.empty()) return run;
    for (const storage::RunId other : reader_.runs_that_look_like(run)) {
      if (of(other) == bytes) return other;
    }
    return run;
  }

 private:
  const std::string& of(storage::RunId run) {
    const auto [place, is_new] = read_.try_emplace(run);
    if (!is_new) return place->second;
    const auto records = reader_.listed_runs(std::array{run});
    if (records.empty()) return place->second;
    return place->second = bytes_key_of(reader_, records.front(), reader_.log_ends(run));
  }

  storage::Reader& reader_;
  std::map<storage::RunId, std::string> read_;
};

}  // namespace

Originals originals_of(storage::Reader& reader, std::span<const storage::RunRecord> runs) {
  std::map<storage::RunId, const storage::RunRecord*> by_id;
  std::vector<storage::RunId> ids;
  for (const storage::RunRecord& run : runs) {
    by_id.emplace(run.id, &run);
    ids.push_back(run.id);
  }
  Originals originals;
  ByBytes by_bytes(reader);
  for (const storage::LikelyCopy& copy : reader.likely_copies(ids)) {
    const storage::RunRecord& run = *by_id.at(copy.run);
    const auto& times = run.summary.step_time_s;
    const bool is_sure = times && times->count >= storage::kStepsThatTell;
    const storage::RunId original = is_sure ? copy.original : by_bytes.first_of(copy.run);
    if (original != copy.run) originals.emplace(copy.run, original);
  }
  return originals;
}

std::optional<storage::RunId> original_in(const Originals& originals, storage::RunId run) {
  const auto found = originals.find(run);
  return found == originals.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> names_of_workload(const parser::Catalog& catalog,
                                           const std::string& workload) {
  if (workload.empty()) return {};
  const parser::Workload* const known = catalog.workload(workload);
  if (known == nullptr) return {workload};
  std::vector<std::string> names = {known->workload};
  names.insert(names.end(), known->aliases.begin(), known->aliases.end());
  return names;
}

std::vector<std::string> names_of_dtype(const std::string& dtype) {
  std::vector<std::string> names = {dtype};
  if (parser::equal_but_for_case(dtype, "fp8")) {
    names.insert(names.end(), {"fp8_cs", "fp8_ds", "fp8_mx", "fp8_sc"});
  }
  return spellings_asked(names);
}

namespace {

// To runs that may be repeats of one that is this.
void narrow(storage::RunFilter& filter, const parser::RunIdentity& identity) {
  const auto only = [](const std::string& value) {
    return value.empty() ? std::vector<std::string>() : std::vector{value};
  };
  filter.model_size = only(identity.model_size);
  filter.dtype = only(identity.dtype);
  filter.gpu_type = only(identity.gpu_type);
  if (identity.gpu_count) filter.gpu_count = {*identity.gpu_count};
}

}  // namespace

std::vector<parser::NoiseRun> own_window_noise_runs(storage::Reader& reader,
                                                    const parser::Catalog& catalog,
                                                    const parser::ComparedRun& tested) {
  storage::RunQuery query;
  const parser::RunIdentity identity = parser::identity_of(tested);
  query.filter.workload = names_of_workload(catalog, identity.workload);
  query.filter.status = {parser::RunStatus::complete};
  query.sort = storage::RunSortKey::id;
  query.limit = kNoiseRunsMax;
  storage::RunQuery repeats = query;
  repeats.limit = kRepeatsAskedMax;
  narrow(repeats.filter, identity);
  std::vector<storage::RunRecord> records = reader.runs(repeats).runs;
  std::set<storage::RunId> known;
  for (const storage::RunRecord& run : records) known.insert(run.id);
  for (storage::RunRecord& run : reader.runs(query).runs) {
    if (known.insert(run.id).second) records.push_back(std::move(run));
  }
  std::vector<parser::ComparedRun> runs;
  for (const storage::RunRecord& run : records) {
    // Its metrics are not derived anew here.
    if (run.listed.marks.contains(parser::RunMark::implausible)) continue;
    parser::ComparedRun compared = describe(reader, run);
    compared.judgement.summary = run.summary;
    compared.judgement.match = parser::match_recipe(
        catalog, {run.configuration, run.facts.dialect, run.logged_global_batch_size});
    runs.push_back(std::move(compared));
  }
  // As `tested` is: a run that names its cluster repeats those of its tree that do not.
  parser::name_clusters(runs, reader.tree_clusters());
  return parser::noise_runs(runs);
}

}  // namespace llmb::report
