// Submission: what one job is to run, typed; and Plan: a submission that the catalog and the
// cluster's settings have accepted, with everything that follows from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/catalog.h"
#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/slurm_parameters.h"

namespace llmb::dispatch {

struct Submission {
  std::string workload;  // a name or an alias of the catalog
  std::string model_size;
  std::string dtype;       // "bf16", "fp8", "fp8_cs" …
  std::int64_t scale = 0;  // GPUs
  std::string gpu_type;    // empty: the cluster's, else the only one that the catalog has
  std::optional<std::int64_t> gpus_per_node;  // nothing: the cluster's, else the catalog's
  std::string launcher = "runner";            // or "recipe": an installed recipe's launch.sh
  std::string backend;                        // "cuda" or "cpu"; empty: the cluster's
  bool profile = false;
  bool nccl_trace = false;
  bool checkpoint = false;
  std::string load_checkpoint_path;
  bool proxy = false;  // a smaller model, or a scale that no document has
  std::map<std::string, std::int64_t> runner_options;  // "num-layers" -> 2
  Environment environment;
  SlurmParameters slurm;

  bool operator==(const Submission&) const = default;
};

struct Plan {
  Submission submission;  // completed
  std::string cluster;
  std::string experiment;
  std::string account_prefix;  // of the log's name; empty without an account
  std::int64_t nodes = 0;
  std::int64_t ranks_per_node = 0;
  Environment environment;  // of the job, complete
  SlurmParameters slurm;    // completed
  std::string program;      // the runner, or the recipe's launch.sh
  std::vector<std::string> program_arguments;
};

// The error says what was wrong and what is allowed.
parser::Result<Plan> plan_submission(const Submission& submission, const ClusterSettings& settings,
                                     const parser::Catalog& catalog);

// Several at once: one submission for each scale, `repeats` times each. Strict: unknown keys,
// wrong types and more than 256 jobs are refused. The keys are Submission's fields, and
//   scale: 128 or [128, 256]    repeats: 3    additional_slurm_params: "a=b;c"
parser::Result<std::vector<Submission>> parse_submissions(std::string_view json);
std::string submission_json(const Submission& submission);

inline constexpr std::size_t kJobsAtOnceMax = 256;

}  // namespace llmb::dispatch
