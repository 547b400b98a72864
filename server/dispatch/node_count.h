// Nodes and their GPUs as the documents count them: NUM_NODES of the 2024 recipe ("sbatch … -N
// ${NUM_NODES}"), and GPUS_PER_NODE beside what the documents' nodes have.
#pragma once

#include <string>

#include "parser/catalog/catalog.h"
#include "parser/result.h"
#include "server/dispatch/cluster_settings.h"
#include "server/dispatch/launch_variables.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// Of a submission of the 2024 document without a scale, NUM_NODES of `environment` makes it. Out of
// the job's own variables it is taken, and there the note says, too, that no other document knows
// it; in a shell other programs' jobs have it. `where`: "the shell".
parser::Result<std::string> take_node_count(Submission& wanted, Environment& environment,
                                            std::string_view where, const ClusterSettings& settings,
                                            const parser::Catalog& catalog, Origins& origins);

// That a node has another number of GPUs than the documents have; mostly empty. `wanted`:
// completed.
std::string gpus_per_node_note(const Submission& wanted, const parser::Catalog& catalog);

}  // namespace llmb::dispatch
