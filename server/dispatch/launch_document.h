// The names that each recipe document gives the experiments and profiles of its workload. The
// defaults of its variables are the catalog's (LaunchDefaults).
#pragma once

#include <string>
#include <string_view>

#include "parser/catalog/recipe.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

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
