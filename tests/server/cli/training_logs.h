// Logs as the producers print them, for trees that the program is run on.
#pragma once

#include <string>

namespace llmb::cli {

// Iterations 0 to `last` of `declared_last`; the step time of iteration i is 2 s for even i and
// 3 s for odd i, at 500 TFLOPS.
std::string nemo_log(int last, int declared_last = 49);

// Iterations 1 to `last` of 50, at 1500.0 ms and 700 TFLOPS.
std::string megatron_bridge_log(int last);

inline constexpr const char* kGrokExperiment =
    "pretrain_grok1_314b_fp8_gpus128_tp4_pp1_cp1_vp1_ep8_etp4_mbs1_gbs256";

// experiments/<name>/<name>_1750000000/<name>/log-acct-acct.<name>_<job>_0.out
std::string experiment_log_path(const std::string& name, int job);

}  // namespace llmb::cli
