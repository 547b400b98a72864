// LayerCost: what one layer costs one rank for one micro-batch: operations, bytes that pass through
// memory, and bytes that stay until the backward pass. Tokens are taken as spread evenly over
// experts, but for memory, where a rank's may get more than their share. Counted for the kernels
// that a good backend fuses: nothing is kept twice, attention keeps no scores.
#pragma once

#include <cstdint>

#include "runner/model/parameters.h"
#include "runner/plan/run_settings.h"

namespace llmb::runner {

// Bytes of one number, by what it is.
struct NumberBytes {
  std::int64_t parameter = 2;   // BF16; copies of them in FP8 are counted apart
  std::int64_t gradient = 4;    // accumulated and reduced, in FP32
  std::int64_t optimizer = 12;  // FP32 master weight and AdamW's two moments
  std::int64_t activation = 2;  // between operations
  std::int64_t gemm_input = 2;  // kept for the weight's gradient
};
// The CPU backend computes in FP32 and rounds what a precision would round.
NumberBytes number_bytes(Precision precision, Backend backend);

// Tokens of one micro-batch on one rank.
struct TokenCounts {
  std::int64_t attended = 0;  // between tensor-parallel GEMMs: the rank's part of the context
  std::int64_t resident = 0;  // between them and the next: sequence parallel, / tp
};
TokenCounts token_counts(const ModelSpec& spec, const ParallelSizes& sizes,
                         std::int64_t micro_batch_size);

struct LayerCost {
  std::int64_t parameter_count = 0;         // on one rank, without experts
  std::int64_t expert_parameter_count = 0;  // on one rank
  std::int64_t activation_bytes = 0;        // kept from forward to backward
  std::int64_t input_bytes = 0;             // kept where the layer is recomputed
  std::int64_t table_bytes = 0;             // of its rotary angles, made once
  double gemm_flops = 0;                    // forward; the backward pass takes twice that
  double attention_flops = 0;               // forward, causal; backward takes 2.5 times that
  // That enter FP8 products: of both passes, and forward only; 0 in other precisions.
  double cast_elements = 0;
  double cast_elements_forward = 0;
  std::int64_t fp8_weight_elements = 0;  // on one rank; 0 in other precisions
  double memory_bytes_forward = 0;       // read and written by what is no GEMM
  double memory_bytes_backward = 0;
};
LayerCost layer_cost(const RunSettings& settings, std::int64_t layer);

// Rows of a micro-batch that a rank's experts get: spread evenly, and as many as memory is planned
// for. Experts that are all on a rank, in slices or whole, get the same however they are chosen.
std::int64_t even_expert_rows(const RunSettings& settings);
std::int64_t planned_expert_rows(const RunSettings& settings);

// Of the head and the loss, on a rank of the last stage.
struct HeadCost {
  std::int64_t rows = 0;        // whose loss is taken
  std::int64_t chunk_rows = 0;  // whose logits exist at once
  std::int64_t kept_bytes = 0;  // from its pass to the layers' backward pass
  double gemm_flops = 0;        // forward; the way back takes twice that
  double memory_bytes = 0;      // there and back
};
HeadCost head_cost(const RunSettings& settings);

// Whether a layer's parameter is a factor of FP8 products: its matrices are, but the router's.
bool enters_fp8_products(const Parameter& parameter);

// Elements of one rank's part.
std::int64_t local_element_count(const Parameter& parameter, const ParallelSizes& sizes);

}  // namespace llmb::runner
