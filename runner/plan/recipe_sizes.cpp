// What a published row says of a layout. Some rows contradict themselves; the catalog keeps them
// as printed, and here it is decided what can run.
#include <fmt/format.h>

#include "runner/plan/run_settings.h"

namespace llmb::runner {
namespace {

int narrow(std::int64_t value) {
  return static_cast<int>(value);
}

// What the DP column says, in Megatron's counting of replicas; nothing where the scale does not
// divide.
std::optional<std::int64_t> stated_replicas(const parser::Recipe& recipe, bool beside_experts,
                                            int scale) {
  const auto stated = recipe.data_parallel.value(scale);
  if (!stated || !beside_experts) return stated;
  return *stated * recipe.expert_parallel.value_or(1);
}

// What a row states of sizes that were given otherwise contradicts nothing of the run.
bool gives_interleaving(const Options& options) {
  return options.vp || options.pp == 1;
}

bool gives_replicas(const Options& options) {
  return options.tp || options.pp || options.cp || options.dp;
}

void note_accumulation(const parser::Recipe& recipe, const ParallelSizes& sizes, int scale,
                       std::vector<std::string>& notes) {
  const auto batch = recipe.global_batch_size.value(scale);
  if (!batch) return;
  const std::int64_t passes = *batch / (recipe.micro_batch_size * sizes.dp);
  if (passes == recipe.gradient_accumulation) return;
  notes.push_back(fmt::format(
      "the row states GA {}, but a global batch of {} over DP {} and micro batch {} is {} "
      "accumulations; the batch is kept",
      recipe.gradient_accumulation, *batch, sizes.dp, recipe.micro_batch_size, passes));
}

void choose_interleaving(const parser::Recipe& recipe, const Options& options, ParallelSizes& sizes,
                         std::vector<std::string>& notes) {
  sizes.vp = narrow(recipe.virtual_pipeline.value_or(1));
  if (recipe.virtual_pipeline_run) {
    const std::string stated =
        recipe.virtual_pipeline ? fmt::format("{}", *recipe.virtual_pipeline) : "NA";
    if (!gives_interleaving(options)) {
      notes.push_back(fmt::format("the row states VP {}, and the recipe runs VP {}: {}", stated,
                                  *recipe.virtual_pipeline_run, recipe.virtual_pipeline_source));
    }
    sizes.vp = narrow(*recipe.virtual_pipeline_run);
  }
  if (sizes.vp == 1 || sizes.pp > 1) return;
  if (!options.vp) {
    notes.push_back(fmt::format(
        "the row states VP {} with PP 1: one stage has nothing to interleave, so VP is 1",
        sizes.vp));
  }
  sizes.vp = 1;
}

}  // namespace

ParallelSizes recipe_sizes(const parser::Recipe& recipe, const parser::Document* document,
                           int scale, const Options& options, std::vector<std::string>& notes) {
  ParallelSizes sizes;
  sizes.tp = narrow(recipe.tensor_parallel);
  sizes.pp = narrow(recipe.pipeline_parallel);
  sizes.cp = narrow(recipe.context_parallel);
  sizes.ep = narrow(recipe.expert_parallel.value_or(1));
  // Megatron's default: an expert is cut as the attention is.
  const bool has_experts = recipe.expert_parallel.has_value();
  sizes.etp = narrow(recipe.expert_tensor_parallel.value_or(has_experts ? sizes.tp : 1));
  choose_interleaving(recipe, options, sizes, notes);
  sizes.dp = scale / (sizes.tp * sizes.pp * sizes.cp);
  const bool beside_experts = document != nullptr && document->data_parallel_is_beside_experts;
  const auto stated = stated_replicas(recipe, beside_experts, scale);
  if (gives_replicas(options)) return sizes;
  if (stated && *stated != sizes.dp) {
    const std::string column = recipe.data_parallel.depends_on_gpu_count
                                   ? to_string(recipe.data_parallel)
                                   : fmt::format("{}", recipe.data_parallel.factor);
    notes.push_back(fmt::format(
        "the row states DP {}{}, but {} GPUs leave DP {} to TP {}, PP {}, CP {}", column,
        beside_experts ? " beside EP" : "", scale, sizes.dp, sizes.tp, sizes.pp, sizes.cp));
  }
  if (!options.micro_batch_size && !options.global_batch_size) {
    note_accumulation(recipe, sizes, scale, notes);
  }
  return sizes;
}

}  // namespace llmb::runner
