// The releases of the recipes' two shell parsers, and in what they differ. The parsers are
// parse_train_timing.sh (NeMo, seconds) and parse_train_timing_mbridge.sh (Megatron-Bridge,
// milliseconds) of the recipes' common folder; what each release does was read from its script
// and is held by tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parser/result.h"

namespace llmb::compat {

enum class Family { nemo, mbridge };

struct Release {
  Family family = Family::nemo;
  std::string_view name;  // "25.05"
  std::int64_t window_first = 0;
  std::int64_t window_last = 0;
  // NeMo 25.05 drops a step without TFLOPS_per_GPU; later releases print "-" for them.
  bool step_needs_tflops = false;
  // NeMo 25.05 skips NCCL traces only; later releases skip four kinds of names.
  bool skips_other_tasks = true;
  // Megatron-Bridge from 25.12: log*.out instead of *.out.
  bool only_log_files = false;
  // The unit before which Megatron-Bridge's number must stand.
  bool reads_tflop = false;           // "TFLOP/s/GPU"
  bool reads_model_tflop = false;     // "MODEL_TFLOP/s/GPU"
  bool rejects_nan_gradient = false;  // 26.05
};

// "nemo", "nemo@25.10", "mbridge@26.02"; a release that shares another's script is accepted under
// its own number. Plain names mean nemo@25.07 and mbridge@25.10. The error lists what there is.
parser::Result<Release> find_release(std::string_view text);

// Every accepted "family@release", for --help.
std::vector<std::string> release_names();

}  // namespace llmb::compat
