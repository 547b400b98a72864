// What may be asked of the list of runs. Values only; storage turns them into bound parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/records.h"

namespace llmb::storage {

// Any of these values; none: whatever a run has.
template <typename Value>
using AnyOf = std::vector<Value>;

// Ends included; a run without the figure is in no range.
struct NumberRange {
  std::optional<double> at_least;
  std::optional<double> at_most;
  bool is_set() const { return at_least || at_most; }
};

struct RunFilter {
  AnyOf<std::string> experiment;
  AnyOf<std::string> workload;
  AnyOf<std::string> model_size;
  AnyOf<std::string> dtype;
  AnyOf<std::string> gpu_type;
  AnyOf<std::int64_t> gpu_count;
  AnyOf<std::string> release;
  // A run that names none is of the only one that its root's runs name (parser::TreeClusters);
  // "": runs that are of none. The following two are what that means, and the reader's to fill in:
  // of runs that name none, those of the first roots are taken, and of all roots but the second.
  AnyOf<std::string> cluster;
  AnyOf<RootId> unnamed_of;
  std::optional<AnyOf<RootId>> unnamed_but_of;
  AnyOf<parser::RunStatus> status;
  bool ended_badly = false;          // also these, as GLOSSARY.md has them
  AnyOf<std::string> failure_cause;  // "": runs without one
  // Runs with any of these marks (of listed_marks.h), and with `is_unmarked` those with none.
  parser::RunMarkSet marks;
  bool is_unmarked = false;
  NumberRange tokens_per_s_per_gpu;
  NumberRange mfu;
  NumberRange speed_against_reference;
  // launched_at (else first_seen_at) at or after the one, and before the other; RFC 3339 UTC
  // without its "Z", compared as text.
  std::optional<std::string> since;
  std::optional<std::string> before;
  AnyOf<std::int64_t> job_id;
  AnyOf<RootId> root_id;
  std::optional<std::string> text;  // part of the experiment's name or the path, ASCII case aside
  bool include_superseded = false;

  bool has_text() const { return text && !text->empty(); }
  bool has_time() const { return since || before; }
};

enum class RunSortKey {
  id,
  launched_at,  // falls back to first_seen_at
  grown_at,
  experiment,
  status,
  gpu_count,
  step_time_s_mean,
  step_time_s_stddev_sample,
  step_time_s_median,
  step_time_s_p95,
  tflops_per_gpu_mean,
  tokens_per_s_per_gpu,
  mfu,
  speed_against_reference,
  failure_cause,  // runs that failed by nothing come last
  last_iteration,
  step_count,
};
std::optional<RunSortKey> run_sort_key_from_name(std::string_view name);
std::string_view run_sort_key_name(RunSortKey key);
std::string run_sort_key_names();  // "id, launched_at, …"

// Keyset position: the sort value (as stored; nothing for NULL, which sorts last) and id of the
// last run of the page before.
struct RunKeyset {
  std::optional<std::string> sort_value;
  RunId id = 0;
};

// False for a keyset that no page of this sort key can have given (a forged cursor).
bool is_valid_keyset(RunSortKey sort, const RunKeyset& keyset);

struct RunQuery {
  RunFilter filter;
  RunSortKey sort = RunSortKey::launched_at;
  bool descending = true;
  std::optional<RunKeyset> after;
  std::int64_t limit = 50;  // 1 to 500
};

// How many runs match, on all pages. By what run_tally does not hold no more than kCountedRunsMax
// are counted, for that would take longer than the page.
struct RunTotal {
  std::int64_t runs = 0;
  bool is_exact = true;  // false: more match

  bool operator==(const RunTotal&) const = default;
};
constexpr std::int64_t kCountedRunsMax = 5'000;

struct RunPage {
  std::vector<RunRecord> runs;  // facts without events; with configuration and segments
  std::optional<RunKeyset> next;
  RunTotal total;
};

// What lists can be filtered by: the values that runs have, superseded ones aside. Each value once,
// in order; of each the first kChoicesMax.
struct RunChoices {
  std::vector<std::string> workload;
  std::vector<std::string> model_size;
  std::vector<std::string> dtype;
  std::vector<std::string> gpu_type;
  std::vector<std::int64_t> gpu_count;
  std::vector<std::string> release;
  std::vector<std::string> cluster;
  std::vector<std::string> failure_cause;
  std::vector<std::string> cut;  // by name, those above of which there are more
};
inline constexpr std::size_t kChoicesMax = 1'000;

// What tells whether something that was made of a run still holds: these change with it.
struct RunVersion {
  RunId id = 0;
  std::int64_t revision = 0;
  std::string grown_at;
  bool operator==(const RunVersion&) const = default;
};

// So many step times with their printed digits are no other run's. Of fewer what the logs hold
// decides, which of a pushed one is not known.
inline constexpr std::int64_t kStepsThatTell = 8;

// A run whose log looks as the one of another run does: as long, with the same beginning and the
// same statistics of its step times; of a run without them, one of the same job. Of several others
// the first that is complete and has no mark, else the first.
struct LikelyCopy {
  RunId run = 0;
  RunId original = 0;
};

// An experiment with what its runs amount to.
struct ExperimentRecord {
  std::string experiment;
  RootId root_id = 0;
  std::int64_t run_count = 0;
  std::int64_t complete_count = 0;
  std::int64_t running_count = 0;
  std::string last_grown_at;
  std::optional<double> best_step_time_s_mean;    // over complete runs
  std::optional<double> latest_step_time_s_mean;  // of the run that grew last
};

}  // namespace llmb::storage
