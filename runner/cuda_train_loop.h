// The whole run on the CUDA backend: what train_loop.h is for the CPU's. Linked only where the
// backend is built.
#pragma once

#include <optional>
#include <string>

#include "runner/train_loop.h"

namespace llmb::runner {

// How this process gets the code of its kernels: in a pipeline all of it as each library is opened
// (CUDA_MODULE_LOADING=EAGER), unless the user has said otherwise. CUDA's default is the first
// launch, which waits until the device is idle; there, a message that is being received waits for a
// neighbour, who may wait for this stage. Before CUDA's first call, which reads it, and before
// there is a second thread.
void choose_module_loading(const RunSettings& settings);

// Why there is no device for this program, in words of a failure that llmb-report knows.
std::optional<std::string> no_device();

int device_count();

// All ranks as threads of this process, a device each; or the one of a rank slice. Throws what
// train_on_cpu does, and cuda::DeviceError (NoDevice where there are fewer devices than ranks).
void train_on_cuda(const Options& options, const RunSettings& settings, TrainOutput output);

// This process as one rank of the world, on the device of its number on this machine, whose cores
// the ranks of this machine share.
void train_rank_on_cuda(World& world, int local_rank, int ranks_of_this_machine,
                        const Options& options, const RunSettings& settings, TrainOutput output);

}  // namespace llmb::runner
