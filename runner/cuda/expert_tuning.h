// Which of the two ways to multiply experts that are all on a rank is the quicker one on this
// device: one launch that reads on the device how many rows each has, or the vendor's library, an
// expert at a time, after the host has waited for the counts. It keeps no file and tells no other
// rank.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runner/cuda/gemm_tuning.h"
#include "runner/cuda/stream.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner::cuda {

// Seconds of one layer's experts, all products of both passes.
struct ExpertTimes {
  double one_launch_s = 0;
  double library_s = 0;  // with the wait
  double wait_s = 0;     // of the host, on a stream with nothing else to do
};

// `experts`: the linear layers of a layer's experts, in BF16 or FP8, `rows` of each expert.
// Operands are random, the library's algorithms are its suggestions; casts to FP8, which the
// library wants one by one, are in neither time. Takes device memory for one layer's operands at a
// time and gives it back; throws OutOfDeviceMemory where that is lacking. Waits. Begins nothing
// more from `until` on, and has no answer then.
std::optional<ExpertTimes> time_experts(const std::vector<LinearShape>& experts,
                                        ProductNumbers numbers, Stream stream,
                                        std::chrono::steady_clock::time_point until);

// What decides the times, as a key for a file: "8 experts of 1024 rows: 6144 to 65536, …", or
// "8 experts of 1024 rows in FP8: …".
std::string expert_key(const std::vector<LinearShape>& experts, ProductNumbers numbers);

}  // namespace llmb::runner::cuda
