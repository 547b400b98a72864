// Plan: a submission that the catalog, the cluster's settings and the runner have accepted, with
// everything that follows from it, and where each value came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/dispatch/submission.h"

namespace llmb::dispatch {

struct PlannedValue {
  std::string name;
  std::string value;
  std::string origin;  // "asked for", "DTYPE of the shell", "the document's default" …
};

// "experiments/<name>", with a folder for each launch; or, as the recipes of 2024 have it,
// "results/24.11/fp8/314b/512", in which the logs of all launches lie side by side.
struct RunTree {
  std::string folder;
  bool holds_logs = false;
};

struct Plan {
  Submission submission;  // completed
  std::string cluster;
  std::string experiment;
  RunTree tree;                // where its runs lie below the folder for runs
  std::string document;        // of the recipe's row; empty for a proxy without one
  bool row_is_proxy = false;   // it has fewer layers than its model, so that it fits
  std::string account_prefix;  // of the log's name; empty without an account
  std::int64_t nodes = 0;
  std::int64_t ranks_per_node = 0;
  std::optional<bool> cuda_graphs;  // nothing: an installed recipe, and no document says
  Environment environment;          // of the job, complete
  SlurmParameters slurm;            // completed
  std::string program;              // the runner, or the recipe's launch.sh
  std::vector<std::string> program_arguments;
  // The recipe's launch.sh calls sbatch by itself: it runs where the dispatcher does.
  bool submits_itself = false;
  std::vector<PlannedValue> values;
  std::vector<std::string> notes;  // what was asked for, and has no effect here
};

}  // namespace llmb::dispatch
