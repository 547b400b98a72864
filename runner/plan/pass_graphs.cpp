#include "runner/plan/pass_graphs.h"

#include <fmt/format.h>

#include "runner/model/precision.h"

namespace llmb::runner {

std::string why_no_graphs(const RunSettings& settings) {
  if (settings.backend != Backend::cuda) return "only CUDA has them";
  if (settings.sizes.vp > 1) {
    return "several chunks a rank take what they keep in memory of one another, at other places "
           "each time";
  }
  if (!settings.spec.is_moe()) return "";
  if (settings.sizes.ep > 1) {
    return "experts on several ranks let the host wait in every pass, for the rows that travel";
  }
  if (is_fp8(settings.precision)) {
    return "FP8 experts let the host wait in every pass, for the rows of each";
  }
  if (settings.expert_counts == ExpertCounts::on_host) {
    return "the library's products of experts let the host wait in every pass, for the rows of "
           "each";
  }
  return "";
}

bool has_graphs(const RunSettings& settings) {
  return settings.wants_graphs && why_no_graphs(settings).empty();
}

std::string graphs_text(const RunSettings& settings) {
  if (!settings.wants_graphs) return "";
  const std::string why_not = why_no_graphs(settings);
  if (!why_not.empty()) return fmt::format("no CUDA graphs: {}\n", why_not);
  return "from the second step on, each pass of a micro-batch is a CUDA graph: a stage's forward "
         "and its backward; steps that are profiled or traced have none\n";
}

}  // namespace llmb::runner
