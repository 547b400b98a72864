// Ceilings: what a device sustains, measured: matrix products, attention and copies, each repeated
// for as long as asked, because a device that gets warm, or reaches its power limit, is slower than
// its first second. What a step's achieved speed is held against.
#pragma once

#include <cstdint>
#include <string>

#include "runner/cuda/attention.h"
#include "runner/cuda/clocks.h"
#include "runner/cuda/gemm.h"
#include "runner/cuda/gemm_tuning.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner::cuda {

// Each allocates what it needs on the calling thread's device, waits, and gives it back. `clocks`
// may be null.
struct CeilingOptions {
  double seconds = 2;
  ClockReader* clocks = nullptr;
  ProductNumbers numbers = ProductNumbers::bf16;  // of linear layers
};

// As a training step has it: random operands, the algorithm that timing chose.
Ceiling measure_gemm(const std::string& name, const Gemm& gemm, const CeilingOptions& options);
// The three products of a linear layer, each as often as the layer is there, and told with the
// reason where its operands do not fit the device; those of experts that
// are all on a rank by one launch for all, too, named "… on the device", which a profile's are held
// against where `experts_on_device`.
void measure_linear(const LinearShape& shape, bool experts_on_device, const CeilingOptions& options,
                    const CeilingSink& tell);
// FLOPs as published results count them: causal attention is half of the square.
Ceiling measure_attention_forward(const AttentionSizes& sizes, const CeilingOptions& options);
Ceiling measure_attention_backward(const AttentionSizes& sizes, const CeilingOptions& options);
// Of device memory to device memory: bytes are those read and those written.
Ceiling measure_copy(std::int64_t bytes, const CeilingOptions& options);

// FLOPs of the forward pass.
double attention_flops(const AttentionSizes& sizes);

// All of these of a model's shapes, each told as soon as it is known, or with the reason where the
// device has too little memory for it.
void measure_ceilings(const CeilingShapes& shapes, bool experts_on_device,
                      const CeilingOptions& options, const CeilingSink& tell);

}  // namespace llmb::runner::cuda
