// Submission: what one job is to run, typed, as it was asked for; and its JSON. What follows from
// it on a cluster is a Plan (plan.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"
#include "server/dispatch/slurm_parameters.h"

namespace llmb::dispatch {

struct Submission {
  std::string workload;    // a name or an alias of the catalog
  std::string model_size;  // empty: the document's default, where it has one; so for dtype
  std::string dtype;       // "bf16", "fp8", "fp8_cs" …
  std::int64_t scale = 0;  // GPUs
  std::string gpu_type;    // empty: the cluster's, else the document's
  std::string document;    // of the catalog; empty: the newest that has such a row
  std::optional<std::int64_t> gpus_per_node;  // nothing: the cluster's, else the catalog's
  std::string launcher = "runner";            // or "recipe": an installed recipe's launch.sh
  std::string backend;  // "cuda" or "cpu"; empty: the cluster's, else the best that the runner has
  bool profile = false;
  std::optional<std::int64_t> profile_start_step;  // nothing: the document's; so for the next two
  std::optional<std::int64_t> profile_stop_step;   // profiling ends before this step
  std::string profile_ranks;                       // "all", "0-8", "0,4,8-11"
  bool gpu_metrics = false;                        // of Nsight Systems, with `profile`
  bool nccl_trace = false;
  bool checkpoint = false;
  std::string load_checkpoint_path;
  std::string container_image;   // of pyxis: "nvcr.io#nvidia/nemo:25.04", or a squashfs file
  std::string container_mounts;  // "/from:/to,/data:/data:ro"
  bool proxy = false;            // a smaller model, or a scale that no document has
  std::map<std::string, std::int64_t> runner_options;  // "num-layers" -> 2; true is 1
  Environment environment;
  SlurmParameters slurm;

  bool operator==(const Submission&) const = default;
};

// Several at once: one submission for each scale, `repeats` times each. Strict: unknown keys,
// wrong types and more than 256 jobs are refused. The keys are Submission's fields, and
//   scale: 128 or [128, 256]    repeats: 3    additional_slurm_params: "a=b;c"
parser::Result<std::vector<Submission>> parse_submissions(std::string_view json);
// A sentence on a submission that names options of the command line, for who wrote keys:
// "--model-size" becomes "'model_size'". Other options stay.
std::string in_keys(std::string_view sentence);
std::string submission_json(const Submission& submission);

inline constexpr std::size_t kJobsAtOnceMax = 256;

// Writes GPU, precision and size as the catalog does: in lower case.
void spell_as_catalog(Submission& submission);

}  // namespace llmb::dispatch
