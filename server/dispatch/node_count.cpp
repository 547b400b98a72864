#include "server/dispatch/node_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parser/foundation/parse_number.h"
#include "server/dispatch/document_words.h"
#include "server/dispatch/launch_document.h"
#include "server/dispatch/text_check.h"

namespace llmb::dispatch {
namespace {

using parser::Result;

constexpr std::int64_t kNodesMax = 100'000;

// "N_GPUS_PER_NODE is 8 for DGX H100".
std::int64_t gpus_of_node(const Submission& wanted, const ClusterSettings& settings,
                          const parser::Catalog& catalog) {
  if (wanted.gpus_per_node) return *wanted.gpus_per_node;
  if (settings.gpus_per_node) return *settings.gpus_per_node;
  const auto row = std::find_if(
      catalog.recipes.begin(), catalog.recipes.end(),
      [](const parser::Recipe& recipe) { return recipe.document == kBatchScriptDocument; });
  const parser::GpuType* const gpu =
      row == catalog.recipes.end() ? nullptr : catalog.gpu(row->gpu_type);
  return gpu == nullptr ? 8 : gpu->gpus_per_node;
}

// NUM_NODES is `text`, as `where` has it.
Result<void> make_scale(Submission& wanted, const std::string& text, std::string_view where,
                        const ClusterSettings& settings, const parser::Catalog& catalog,
                        Origins& origins) {
  const auto nodes = parser::parse_integer(text, 1, kNodesMax);
  if (!nodes) {
    return parser::fail(fmt::format("{} of {} is {}, which is no number of nodes",
                                    kNodeCountVariable, where, in_quotes(text)));
  }
  const std::int64_t per_node = gpus_of_node(wanted, settings, catalog);
  wanted.scale = *nodes * per_node;
  origins["scale"] =
      fmt::format("{} of {}, {} nodes of {} GPUs", kNodeCountVariable, where, *nodes, per_node);
  return {};
}

bool wants_scale(const Submission& wanted) {
  return wanted.document == kBatchScriptDocument && wanted.scale == 0;
}

}  // namespace

Result<std::string> take_node_count_of_job(Submission& wanted, const ClusterSettings& settings,
                                           const parser::Catalog& catalog, Origins& origins) {
  const auto entry = wanted.environment.find(kNodeCountVariable);
  if (entry == wanted.environment.end()) return {};
  const std::string text = entry->second;
  wanted.environment.erase(entry);
  if (!wants_scale(wanted)) {
    return fmt::format("{} has no effect: {}", kNodeCountVariable,
                       wanted.scale != 0
                           ? "the number of GPUs is given"
                           : fmt::format("only {} knows it (--document)", kBatchScriptDocument));
  }
  auto made = make_scale(wanted, text, "the job's variables", settings, catalog, origins);
  if (!made) return tl::unexpected(made.error());
  return {};
}

Result<void> take_node_count_of_shell(Submission& wanted, const ClusterSettings& settings,
                                      const parser::Catalog& catalog, Origins& origins) {
  const auto entry = settings.launch_environment.find(std::string(kNodeCountVariable));
  const bool is_set = entry != settings.launch_environment.end();
  if (!is_set || !wants_scale(wanted)) return {};  // other programs' jobs set it too
  return make_scale(wanted, entry->second, "the shell", settings, catalog, origins);
}

std::string gpus_per_node_note(const Submission& wanted, const parser::Catalog& catalog) {
  if (wanted.backend == "cpu" || !wanted.gpus_per_node) return {};
  const std::int64_t per_node = *wanted.gpus_per_node;
  if (words_of("", wanted.workload).names_node_sizes) {
    if (per_node == 2 || per_node == 4 || per_node == 8) return {};
    return fmt::format("the document of {} has GPUS_PER_NODE of 2, 4 or 8, and this is {}",
                       wanted.workload, per_node);
  }
  const parser::GpuType* const gpu = catalog.gpu(wanted.gpu_type);
  if (gpu == nullptr || per_node <= gpu->gpus_per_node) return {};
  return fmt::format("the documents' nodes of {} have {} GPUs, and GPUS_PER_NODE is {}",
                     wanted.gpu_type, gpu->gpus_per_node, per_node);
}

}  // namespace llmb::dispatch
