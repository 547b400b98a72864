// DocumentWords: what a recipe document says of launching beside its defaults (LaunchDefaults):
// which variables it speaks of and which it requires. Of the others it can be said beforehand that
// its launch.sh may not hear them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/plan.h"

namespace llmb::dispatch {

struct DocumentWords {
  std::string_view document = {};
  std::string_view workload = {};
  std::string_view folder = {};  // "cd $LLMB_REPO/grok1/"; empty where it names none
  bool requires_dtype = false;
  bool of_profiling = true;
  bool of_gpu_metrics = true;
  bool of_nccl_trace = true;
  bool of_checkpoints = true;
  bool of_slurm_params = true;    // ADDITIONAL_SLURM_PARAMS
  bool asks_for_token = false;    // HF_TOKEN
  bool names_node_sizes = false;  // GPUS_PER_NODE=<2,4,8>
};

// Of the document; where it is empty, of the workload's newest. One that a user's catalog adds
// requires nothing, and nothing is said of what it leaves out.
const DocumentWords& words_of(std::string_view document, std::string_view workload);

const DocumentWords& words_of_plan(const Plan& plan);

// Sentences: what was asked for and the document of the plan says nothing of, and what it asks for
// and is not there.
std::vector<std::string> unspoken_notes(const Plan& plan, const ClusterSettings& settings);

}  // namespace llmb::dispatch
