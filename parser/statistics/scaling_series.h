// ScalingSeries: what becomes of the tokens per second of one GPU as more of them train the same
// model: runs of one workload, model size, dtype, GPU type and cluster by their number of GPUs,
// each scale against the smallest one, with the published results of the same recipes beside them.
// What a comparison would call different is never put together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/statistics/mean_comparison.h"
#include "parser/statistics/run_selection.h"
#include "parser/statistics/scaling_run.h"
#include "parser/statistics/tree_clusters.h"

namespace llmb::parser {

// How the work of a step grows from the smallest scale on.
enum class ScalingKind {
  baseline,  // the smallest scale itself; of a series: it has no other
  weak,      // the global batch grows with the GPUs: each GPU keeps its work
  strong,    // the global batch stays: each GPU has less to do
  mixed,     // neither, or some scales are weak and others strong
  unknown,   // a global batch size is not known
};
std::string_view scaling_kind_name(ScalingKind kind);

// In what something differs from its neighbours. Nothing: it is not stated.
struct DifferingValue {
  std::string key;
  std::optional<std::string> value;
};
// "environment.NCCL_NVLS_ENABLE 1, release not stated"
std::string differences_text(const std::vector<DifferingValue>& differences);

// Runs of one scale, global batch size and layout.
struct ScalingPoint {
  std::int64_t gpu_count = 0;
  std::optional<std::int64_t> global_batch_size;
  ScalingKind kind = ScalingKind::baseline;
  std::vector<DifferingValue> differences;  // of its layout from others at this scale
  std::vector<std::size_t> runs;            // indexes into the runs given
  MeanEstimate tokens_per_s_per_gpu;
  // tokens_per_s_per_gpu / that of the smallest scale.
  std::optional<double> efficiency;
  std::string efficiency_reason;  // why there is none; empty where there is one
  // Of the runs' speed_against_reference; nothing where no published result is theirs.
  std::optional<MeanEstimate> speed_against_reference;
  std::optional<PublishedStanding> published_standing;  // that speed against 1
  // Why there is none, where the runs have several published results; else empty.
  std::string published_reason;
};

// One published result of the series' document.
struct PublishedPoint {
  const Reference* reference = nullptr;
  std::int64_t global_batch_size = 0;
  ScalingKind kind = ScalingKind::baseline;
  // sequence_length * global_batch_size / the printed step time / gpu_count. Printed throughputs
  // are not used: the audit shows that some do not follow from their own step times.
  double tokens_per_s_per_gpu = 0;
  double efficiency = 0;  // against the smallest published scale
};

struct LeftOutRun {
  std::size_t run = 0;  // index into the runs given
  std::vector<RunMarkReason> marks;
  std::string reason;
  std::optional<std::size_t> copy_of;  // of the run that counts for the same log
};

struct ScalingSeries {
  std::string workload;
  std::string model_size;
  std::string dtype;
  std::string gpu_type;
  std::string cluster;  // see TreeClusters; empty: not known
  // From the other series of the same five: environment, release, window, marks …
  std::vector<DifferingValue> differences;
  ScalingKind kind = ScalingKind::unknown;
  std::vector<ScalingPoint> points;  // by GPU count, then global batch size
  std::vector<LeftOutRun> left_out;
  const Document* document = nullptr;     // of the runs' recipes; null where they are none
  std::vector<PublishedPoint> published;  // by GPU count; without proxies, which are other models
};

struct ScalingReport {
  std::vector<ScalingSeries> series;  // by workload … cluster, and by their differences
  std::vector<LeftOutRun> unplaced;   // that do not say what they train, or on what
};

// What every answer says of the method.
inline constexpr std::string_view kScalingMethod =
    "One value is the tokens/s/GPU of one run over its window: sequence_length * "
    "global_batch_size / step_time_s_mean / gpu_count. A point is the mean of such runs of one "
    "scale; its interval is 95 % by Student's t on run means. Efficiency is the point's mean over "
    "that of the smallest scale: 1 is perfect scaling. Weak scaling: the global batch grows with "
    "the GPUs; strong scaling: it stays the same. Runs that a comparison would call different "
    "(another environment, cluster, window, …) are series of their own, which say in what they "
    "differ. Of one cluster logs with the same bytes are one run.";

// Pointers in the result live as long as the catalog that the runs were measured with.
ScalingReport scaling_series(const Catalog& catalog, const ScalingRuns& runs,
                             const RunSelection& selection, const RunMarkSet& included,
                             const TreeClusters& trees);

}  // namespace llmb::parser
