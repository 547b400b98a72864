// Which algorithm computes each matrix product of a run on CUDA, and which way its experts'
// products take: chosen before the first step, by timing or from a file, by rank 0 for all ranks.
// So what ranks compute alike is alike to the bit, whatever each would have measured, and the
// products of a run that takes the file of an earlier one repeat their bits.
#pragma once

#include <string>

#include "runner/cuda/gemm_tuning.h"
#include "runner/log_sink.h"
#include "runner/model/expert_counts.h"
#include "runner/model/precision.h"
#include "runner/parallel/communicator.h"
#include "runner/plan/options.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

// The elements of the linear layers' products in a run of this precision.
cuda::ProductNumbers product_numbers(Precision precision);

struct ProductPlans {
  std::string json;              // for GemmEngine::pin_plans; empty for the library's suggestions
  ExpertCounts expert_counts{};  // of experts that are all on a rank
};

// All ranks call it, on their devices, before they take memory for the run; a rank of a slice
// answers itself. Rank 0 reads the options' file, where there is one, tunes what it lacks, keeps
// the choice there, and logs a line of each. A file that is not of this GPU, driver and library is
// kept under another name (".old") and tuned anew. The experts' way is the options' where they say
// it, else what was timed, else the settings'. Throws cuda::DeviceError.
ProductPlans agree_on_product_plans(World& world, const Options& options,
                                    const RunSettings& settings, LogSink& log);

}  // namespace llmb::runner
