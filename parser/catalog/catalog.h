// Catalog: what the recipe documents state, as data: configuration rows, model shapes, GPU peaks,
// published results and worked examples, each with the place it stands in. Immutable once loaded;
// any number of threads may read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/catalog/model_flops.h"
#include "parser/catalog/model_shape.h"
#include "parser/catalog/recipe.h"
#include "parser/catalog/reference.h"
#include "parser/log_facts.h"
#include "parser/statistics/window.h"

namespace llmb::parser {

struct Document {
  std::string id;  // "grok1-25.05"
  std::string title;
  std::string release;
  std::string workload;
  // The iterations that its results are made of; nothing means the last step alone.
  std::optional<Window> default_window;
  std::vector<Dialect> dialects;  // of the logs that its recipes write
  // The DP column counts groups of experts (GPUs = DP * EP * TP * PP * CP), not replicas.
  bool data_parallel_is_beside_experts = false;
  // Of its notes; nothing where it states no model FLOPs.
  std::optional<FlopsFormula> flops_formula;
};

struct GpuPeak {
  std::string dtype;
  double tflops = 0;  // dense, as the document states it; documents differ
  std::string document;
};

struct GpuType {
  std::string gpu_type;
  double memory_gb = 0;
  std::int64_t gpus_per_node = 0;
  std::vector<GpuPeak> peaks;
};

struct Model {
  ModelShape shape;
  std::string source;
};

struct Workload {
  std::string workload;  // "pretrain_llama3.1"
  std::string family;    // ModelShape::family
  std::vector<std::string> aliases;
  FlopsFormula flops_formula = FlopsFormula::recipe;  // for mfu_model_flops_reference
};

struct Catalog {
  std::vector<Document> documents;
  std::vector<GpuType> gpus;
  std::vector<Model> models;
  std::vector<Workload> workloads;
  std::vector<Recipe> recipes;
  std::vector<Reference> references;
  std::vector<WorkedExample> worked_examples;

  // Each: null where there is none. Pointers live as long as the Catalog.
  const Document* document(std::string_view id) const;
  const GpuType* gpu(std::string_view gpu_type) const;
  const Model* model(std::string_view family, std::string_view size) const;
  // By its name or an alias of it.
  const Workload* workload(std::string_view name) const;
  // The row of this document at this scale.
  const Recipe* recipe_of(const Reference& reference) const;
  // What `document` states for that GPU and coarse dtype; without that, what the newest of the
  // documents states.
  const GpuPeak* peak(std::string_view gpu_type, std::string_view dtype,
                      std::string_view document) const;
};

// The embedded one, loaded when first asked for.
const Catalog& embedded_catalog();

}  // namespace llmb::parser
