#include "parser/statistics/run_selection.h"

#include "parser/catalog/recipe.h"
#include "parser/foundation/text.h"

namespace llmb::parser {

RunSelection by_catalog_names(const Catalog& catalog, RunSelection selection) {
  for (auto* const name : {&selection.model_size, &selection.dtype, &selection.gpu_type}) {
    if (*name) **name = lower(**name);
  }
  if (!selection.workload) return selection;
  const Workload* const known = catalog.workload(*selection.workload);
  if (known != nullptr) selection.workload = known->workload;
  return selection;
}

bool is_selected(const RunIdentity& identity, const RunSelection& selection, bool may_be_unsaid) {
  const auto agrees = [&](const std::optional<std::string>& asked, const std::string& value) {
    return !asked || *asked == value || (may_be_unsaid && value.empty());
  };
  const auto is_spelled = [&](const std::optional<std::string>& asked, const std::string& value) {
    return agrees(asked, value) || equal_but_for_case(*asked, value);
  };
  return agrees(selection.workload, identity.workload) &&
         is_spelled(selection.model_size, identity.model_size) &&
         is_spelled(selection.gpu_type, identity.gpu_type) &&
         (is_spelled(selection.dtype, identity.dtype) ||
          equal_but_for_case(*selection.dtype, coarse_dtype(identity.dtype))) &&
         (!selection.gpu_count || selection.gpu_count == identity.gpu_count);
}

}  // namespace llmb::parser
