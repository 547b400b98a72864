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

}  // namespace

Result<std::string> take_node_count(Submission& wanted, Environment& environment,
                                    std::string_view where, const ClusterSettings& settings,
                                    const parser::Catalog& catalog, Origins& origins) {
  const auto entry = environment.find(kNodeCountVariable);
  if (entry == environment.end()) return {};
  const std::string text = entry->second;
  environment.erase(entry);
  if (wanted.document != kBatchScriptDocument) {
    if (where == kOfShell) return {};
    return fmt::format("{} has no effect: only {} knows it (--document)", kNodeCountVariable,
                       kBatchScriptDocument);
  }
  const std::string source = fmt::format("{} of {}", kNodeCountVariable, where);
  const auto nodes = parser::parse_integer(text, 1, kNodesMax);
  const bool has_scale = wanted.scale != 0;
  // In a shell it may be another program's.
  if (!nodes && !(has_scale && where == kOfShell)) {
    return parser::fail(
        fmt::format("{} is {}, which is no number of nodes", source, in_quotes(text)));
  }
  const std::int64_t per_node = gpus_of_node(wanted, settings, catalog);
  if (has_scale) {
    if (nodes && *nodes * per_node == wanted.scale) return {};
    return set_aside_note(source, text,
                          {"scale", fmt::to_string(wanted.scale), origin_of("scale", origins)});
  }
  wanted.scale = *nodes * per_node;
  origins["scale"] = fmt::format("{}, {} nodes of {} GPUs", source, *nodes, per_node);
  return {};
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
