// node_of_failure: the node where a failure happened, as the log names it: the line of the failure
// itself, or a launcher's word of the rank that told of it. Not that which a scheduler names when
// it ends a whole job: that is the job's first, whatever went wrong. Nor that of who waited for
// another rank or lost it, nor that of a task which was ended because another one failed, nor that
// of a rank which only came first with what all meet: better none than a bystander.
#pragma once

#include <span>
#include <string_view>

#include "parser/log_facts.h"

namespace llmb::parser {

// "gpu-05" of srun's "error: gpu-05: task 2: Killed", "Node failure on gpu-05" and "failed on node
// gpu-05:", of the head of NCCL's "gpu-05:88:120 [3] … NCCL WARN Call to ibv_create_cq failed", of
// the kernel's "gpu-05 kernel: NVRM: Xid", of "gpu-05: [rank3]: …", of MPI's "[gpu-05:812] ***
// Process received signal" and of Megatron-LM's "Device: 3, node: gpu-05". Else, of a failure
// that is one node's, srun's "error: gpu-05: tasks 0-3: …" where its rank is one of these tasks and
// the line is among those that are kept of its attempt. `failure`: one of `events`, which are those
// of its log. A part of a line; empty: none is named. Thread-safe.
std::string_view node_of_failure(const LogEvent& failure, std::span<const LogEvent> events);

}  // namespace llmb::parser
