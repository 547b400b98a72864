// LaunchDocument: what each recipe document says of launching its workload, beyond its tables: the
// defaults of its variables, how its experiments and profiles are named, and which ranks it
// profiles.
#pragma once

#include <string>
#include <string_view>

#include "parser/catalog/recipe.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

struct LaunchDocument {
  std::string_view workload;
  // Empty: the document has no default, or there is one choice only.
  std::string_view model_size;
  std::string_view dtype;
  std::string_view gpu_type;
  std::string_view profile_ranks;  // "all" or "0-8"
  // The variables by which launch.sh takes the steps to profile begin with this.
  std::string_view profile_variables;
};

// Of a workload of the catalog; a document of its own for each of the four, and a plain one for any
// other.
const LaunchDocument& launch_document(std::string_view workload);

// The name that the document gives an experiment; `recipe` is null for a proxy at another scale.
std::string experiment_name(const Submission& submission, const parser::Recipe* recipe);

// grok1-24.11: whether the log is "generated inside of the
// $STAGE_PATH/results/$GSW_VERSION/$DTYPE/314b/$JOB_TOTAL_GPUS folder".
bool has_results_tree(const Submission& submission, const parser::Recipe* recipe);

// The name of a profile's file without its extension, as Nsight Systems expands it.
std::string profile_file_name(const Submission& submission);

// The document of the 2024 recipe, whose launch.sh is itself the batch script: `sbatch …
// launch.sh`. That of every later one calls sbatch by itself.
inline constexpr std::string_view kBatchScriptDocument = "grok1-24.11";

}  // namespace llmb::dispatch
