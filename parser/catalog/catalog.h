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
#include "parser/catalog/sample_output.h"
#include "parser/log_facts.h"
#include "parser/window.h"

namespace llmb::parser {

// What a document's launch variables are where nobody sets them. Empty: the document has no
// default, or leaves one choice only.
struct LaunchDefaults {
  std::string model_size;
  std::string dtype;
  std::string gpu_type;
  // The line that says that no other GPU type is supported, where one does.
  std::optional<std::int64_t> only_gpu_type_line;
  std::string profile_ranks = "all";  // or a list: "0-8"
  // The variables by which launch.sh takes the steps to profile begin with this.
  std::string profile_variables = "RUN_CONF_PROFILE_";
  std::string source;  // the document's words
};

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
  std::optional<LaunchDefaults> launch;

  // Releases whose tables are the same.
  std::vector<std::string> further_releases;
  // Where its tables stand, for a document that the catalog has no more of than those. Such a one
  // speaks for runs that name its release, and for no others.
  std::string source;

  // Whether its tables may be those that a run of that release follows: 25.05 is corrected by
  // 25.05.01. An empty release may be any.
  bool speaks_for(std::string_view run_release) const;
  // Whether its recipes may write such a log. One without lines that tell may be any.
  bool has_dialect(Dialect dialect) const;
};

// From a release on, which iterations its results are made of, whatever the recipe.
struct ReleaseWindow {
  Dialect dialect = Dialect::unknown;
  std::string release;           // the first one: "25.08"
  std::optional<Window> window;  // nothing means the last step alone
  std::string source;
};

// How the README of a workload counts model FLOPs, of which the catalog has no more than its
// results: from one release to another.
struct ReleaseFlops {
  std::string workload;
  std::string model_size;  // empty: of all sizes
  std::string release;     // the first one: "25.04.01"
  std::string last_release;
  FlopsFormula flops_formula = FlopsFormula::recipe;
  std::optional<std::int64_t> query_group_count;  // where it takes another than the model's
  std::string source;
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
  // Of the files that it was loaded from, in their order: tells whether another one was used.
  std::uint64_t content_hash = 0;
  std::vector<Document> documents;
  std::vector<ReleaseWindow> release_windows;
  std::vector<GpuType> gpus;
  std::vector<Model> models;
  std::vector<Workload> workloads;
  std::vector<Recipe> recipes;
  // Of the documents with a source: for runs that name their release, and are none of the above.
  std::vector<Recipe> later_recipes;
  std::vector<Reference> references;
  std::vector<ReleaseFlops> release_flops;
  std::vector<WorkedExample> worked_examples;
  std::vector<SampleOutput> sample_outputs;
  std::vector<PublishedCommand> commands;

  // Each: null where there is none. Pointers live as long as the Catalog.
  const Document* document(std::string_view id) const;
  // The rule of the newest release that is no later than that one; none for a text that is no
  // release.
  const ReleaseWindow* release_window(Dialect dialect, std::string_view release) const;
  const ReleaseFlops* flops_of_release(std::string_view workload, std::string_view model_size,
                                       std::string_view release) const;
  const GpuType* gpu(std::string_view gpu_type) const;
  const Model* model(std::string_view family, std::string_view size) const;
  // By its name or an alias of it.
  const Workload* workload(std::string_view name) const;
  // Of the workload's newest document that has some; otherwise plain ones.
  const LaunchDefaults& launch_defaults(std::string_view workload) const;
  // The row of this document that is_whole_at() this scale.
  const Recipe* recipe_of(const Reference& reference) const;
  const Recipe* recipe_of(const SampleOutput& sample) const;
  // What `document` states for that GPU and coarse dtype; without that, what the newest of the
  // documents states.
  const GpuPeak* peak(std::string_view gpu_type, std::string_view dtype,
                      std::string_view document) const;
};

// The embedded one, loaded when first asked for.
const Catalog& embedded_catalog();
// Parts of it, for those who only want to tell a run's recipe and window, loaded in a fraction of
// the time: without what references.json holds, and without later_recipes as long as those are
// not wanted.
enum class RecipeExtent { documents, all };
const Catalog& embedded_recipes(RecipeExtent extent);

}  // namespace llmb::parser
