// Recipe: one configuration row of a recipe document. Columns that a table prints as NA, or does
// not have, are absent.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "parser/catalog/scale_formula.h"

namespace llmb::parser {

struct Recipe {
  std::string workload;  // "pretrain_grok1"
  std::string model_size;
  std::vector<std::string> dtypes;  // coarse: "bf16", "fp8"
  std::string gpu_type;
  // A row may stand for a range of scales ("128-1024").
  std::int64_t gpu_count_min = 0;
  std::int64_t gpu_count_max = 0;
  std::int64_t sequence_length = 0;
  std::int64_t layer_count = 0;
  std::int64_t tensor_parallel = 1;
  std::int64_t pipeline_parallel = 1;
  std::int64_t context_parallel = 1;
  std::optional<std::int64_t> expert_parallel;
  std::optional<std::int64_t> expert_tensor_parallel;
  std::optional<std::int64_t> virtual_pipeline;
  // What the recipe's own program runs, where the table contradicts it; and how that is known.
  std::optional<std::int64_t> virtual_pipeline_run;
  std::string virtual_pipeline_source;
  ScaleFormula data_parallel;
  std::int64_t micro_batch_size = 1;
  ScaleFormula global_batch_size;
  std::int64_t gradient_accumulation = 1;
  std::optional<bool> fully_sharded;  // FSDP
  std::optional<bool> cuda_graphs;    // CG
  // Where the document says it of some precisions only: with these.
  std::vector<std::string> cuda_graphs_dtypes;
  std::optional<std::int64_t> recompute_layers;  // RL
  std::optional<std::int64_t> offload_layers;    // OL
  std::string document;                          // Document::id
  std::int64_t line = 0;                         // of the row in the document
  // Fewer layers than the model has, so that it fits: its speed says nothing of the model's.
  // Derived from the model's shape when the catalog is loaded.
  bool is_proxy = false;

  bool has_scale(std::int64_t gpu_count) const {
    return gpu_count_min <= gpu_count && gpu_count <= gpu_count_max;
  }
  // A range has the multiples of this: others leave no whole DP, or no whole GBS.
  std::int64_t scale_divisor() const {
    return std::lcm(data_parallel.divisor, global_batch_size.divisor);
  }
  // Has that scale, with a whole DP and a whole GBS.
  bool is_whole_at(std::int64_t gpu_count) const {
    return has_scale(gpu_count) && gpu_count % scale_divisor() == 0;
  }
  // Nothing where the document does not say.
  std::optional<bool> has_cuda_graphs(const std::string& dtype) const;
  bool operator==(const Recipe&) const = default;
};

// "fp8_cs" -> "fp8": the documents' tables know the coarse dtype only.
inline std::string coarse_dtype(const std::string& dtype) {
  return dtype.substr(0, dtype.find('_'));
}

inline std::optional<bool> Recipe::has_cuda_graphs(const std::string& dtype) const {
  for (const std::string& named : cuda_graphs_dtypes) {
    if (named == coarse_dtype(dtype)) return true;
  }
  return cuda_graphs;
}

}  // namespace llmb::parser
