// The communicators' calls as the lines that NCCL prints of its own, so that a trace is read alike
// wherever it comes from. Counts are NCCL's: of AllGather and ReduceScatter one rank's part.
#pragma once

#include <string>

#include "runner/parallel/communicator.h"

namespace llmb::runner {

// Who prints: "host:pid:tid [device]".
struct TraceProcess {
  std::string host;
  std::int64_t process_id = 0;
  std::int64_t thread_id = 0;
  int device = 0;
};
// This thread of this process; `device` is its GPU's number among those that the process sees, or
// stands for the one that it would have.
TraceProcess this_trace_process(int device);

// One line with its newline. Empty for what NCCL does not have: barriers, and calls of a group of
// one rank, which communicate nothing.
std::string nccl_trace_line(const TraceProcess& process, const Communicator& communicator,
                            const CallRecord& call);

}  // namespace llmb::runner
