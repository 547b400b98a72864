// node_of_failure: the node that the line of a failure names as the one where it happened. Not that
// which a scheduler names when it ends a whole job: that is the job's first, whatever went wrong.
// Nor that of who waited for another rank or lost it, nor that of a task which was ended because
// another one failed: better none than a bystander.
#pragma once

#include <string_view>

namespace llmb::parser {

// "gpu-05" of srun's "error: gpu-05: task 2: Killed", "Node failure on gpu-05" and "failed on node
// gpu-05:", and of the head of NCCL's "gpu-05:88:120 [3] … NCCL WARN Call to ibv_create_cq failed".
// `cause`: the class of the failure. A part of `line`; empty: it names none. Thread-safe.
std::string_view node_of_failure(std::string_view cause, std::string_view line);

}  // namespace llmb::parser
