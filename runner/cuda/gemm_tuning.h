// The matrix products of a model's step, and the choice of their algorithms by timing before the
// first step, while the device is empty. It keeps no file and tells no other rank.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "runner/cuda/gemm.h"
#include "runner/operation/ceiling.h"

namespace llmb::runner::cuda {

// A product without pointers, and how many of it a pass of the model has.
struct CountedGemm {
  Gemm gemm;
  double count = 1;
};

// The elements of a run: fp32 values; BF16 values; or these with FP8 operands inside the layers, or
// MXFP8 ones.
enum class ProductNumbers { fp32, bf16, fp8, mxfp8 };
bool is_fp8(ProductNumbers numbers);  // either

// The three products of a linear layer, as Ops makes them: forward, of its input's gradient, of its
// weight's.
std::array<Gemm, 3> products_of(const LinearShape& linear, ProductNumbers numbers);

// Those of each linear layer: each plan_key once.
std::vector<CountedGemm> products_of(const std::vector<LinearShape>& linears,
                                     ProductNumbers numbers);

struct TuningResult {
  int products = 0;
  int known = 0;  // of them, had a plan before
  int tuned = 0;
  int without_memory = 0;  // their operands did not fit
  double seconds = 0;
  // Of those that were tuned, each as often as a pass has it: by the library's suggestions, and by
  // what was chosen.
  double first_time_s = 0;
  double time_s = 0;
};

// Tunes what the engine has no plan for, largest share of a pass first, and begins nothing more
// after `seconds`: what is left keeps the library's suggestion. Waits. Needs device memory for one
// product's operands at a time, and gives it back.
TuningResult tune_products(GemmEngine& engine, std::vector<CountedGemm> products, double seconds,
                           Stream stream);

// A sentence for the log.
std::string tuning_text(const TuningResult& result);

}  // namespace llmb::runner::cuda
