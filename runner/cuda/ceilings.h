// Ceilings: what a device sustains, measured: matrix products, attention and copies, each repeated
// for as long as asked, because a device that gets warm, or reaches its power limit, is slower than
// its first second. What a step's achieved speed is held against.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/cuda/attention.h"
#include "runner/cuda/clocks.h"
#include "runner/cuda/gemm.h"

namespace llmb::runner::cuda {

struct Ceiling {
  std::string name;   // "gemm forward 8192x8192x8192 bf16"
  double time_s = 0;  // of one repetition: the median of the pieces that were timed
  double time_s_min = 0;
  double time_s_max = 0;
  double flops = 0;  // of one repetition; 0 where bytes count
  double bytes = 0;
  std::int64_t repetitions = 0;
  ClockReading clocks;  // while it ran
  double tflops_per_s() const { return flops / time_s * 1e-12; }
  double gb_per_s() const { return bytes / time_s * 1e-9; }
};

// Each allocates what it needs on the calling thread's device, waits, and gives it back. `clocks`
// may be null.
struct CeilingOptions {
  double seconds = 2;
  ClockReader* clocks = nullptr;
};

// As a training step has it: random operands, the algorithm that timing chose.
Ceiling measure_gemm(const std::string& name, const Gemm& gemm, const CeilingOptions& options);
// FLOPs as published results count them: causal attention is half of the square.
Ceiling measure_attention_forward(const AttentionSizes& sizes, const CeilingOptions& options);
Ceiling measure_attention_backward(const AttentionSizes& sizes, const CeilingOptions& options);
// Of device memory to device memory: bytes are those read and those written.
Ceiling measure_copy(std::int64_t bytes, const CeilingOptions& options);

// FLOPs of the forward pass's two products, over the visible half.
double attention_flops(const AttentionSizes& sizes);

// A line of a table, and its heading.
std::string ceiling_heading();
std::string ceiling_line(const Ceiling& ceiling);

}  // namespace llmb::runner::cuda
