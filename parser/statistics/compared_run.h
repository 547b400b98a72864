// ComparedRun: what comparisons, scaling series and histories need of one run, and what they take
// for one configuration.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/statistics/judge_run.h"
#include "parser/statistics/run_copies.h"
#include "parser/statistics/run_identity.h"
#include "parser/statistics/run_marks.h"
#include "parser/statistics/run_start.h"
#include "parser/statistics/step_scatter.h"
#include "parser/statistics/tree_clusters.h"

namespace llmb::parser {

enum class ComparedMetric { step_time_s, tokens_per_s_per_gpu, tflops_per_gpu };
inline constexpr std::array kComparedMetrics = {ComparedMetric::step_time_s,
                                                ComparedMetric::tokens_per_s_per_gpu,
                                                ComparedMetric::tflops_per_gpu};
std::string_view compared_metric_name(ComparedMetric metric);

struct ComparedRun {
  std::int64_t id = 0;  // the caller's
  std::string experiment;
  std::optional<std::int64_t> job_id;
  std::string path;
  std::int64_t tree = 0;               // that its log is in: the caller's number
  std::optional<std::string> cluster;  // by whoever stored or pushed it, else as it says itself
  // When it was started, as its launch's folder says: RFC 3339 UTC, which sorts as text.
  std::optional<std::string> launched_at;
  std::optional<std::string> grown_at;  // when its log last grew; nothing where that is not known
  ContentKey content_key;
  RunConfiguration configuration;
  Dialect dialect = Dialect::unknown;
  bool has_profiles = false;
  bool nccl_trace_seen = false;
  bool is_superseded = false;
  std::optional<SteadySteps> steady_steps;  // for a window of too few to show how they scatter
  Judgement judgement;                      // over the window of the comparison, with metrics
  // Over the run's own window and with every step, whatever was asked for: for the reference alone.
  Judgement published;
};

// Each that names no cluster says from here on that it is of the only one of its tree.
void name_clusters(std::vector<ComparedRun>& runs, const TreeClusters& trees);
void name_cluster(ComparedRun& run, const TreeClusters& trees);  // of one

RunIdentity identity_of(const ComparedRun& run);
std::vector<std::size_t> stated_counts_of(const std::vector<ComparedRun>& runs);
// For each run the one that counts for its content among all of them, whatever their marks: itself
// where it is no copy.
std::vector<std::size_t> originals_of(const std::vector<ComparedRun>& runs);
RunStart start_of(const ComparedRun& run);
// As the run says, or as all recipes do that may be its own.
std::optional<std::int64_t> global_batch_size_of(const ComparedRun& run);
std::vector<RunMarkReason> marks_of(const ComparedRun& run);
// As over the window of `judgement`, one of the run's.
std::vector<RunMarkReason> marks_over(const ComparedRun& run, const Judgement& judgement);

// The mean over the window, which is what is shown; nothing where the run has none.
std::optional<double> mean_of(const ComparedRun& run, ComparedMetric metric);
// ln of the median over the window, which one slow step does not move: what tests are made on.
std::optional<double> log_location_of(const ComparedRun& run, ComparedMetric metric);

// What is taken for one configuration: its best values by key, with dialect, window, batch and
// marks (but superseded); without what tells one launch from another.
using Characteristics = std::map<std::string, std::string, std::less<>>;
Characteristics characteristics_of(const ComparedRun& run, const std::vector<RunMarkReason>& marks);

}  // namespace llmb::parser
