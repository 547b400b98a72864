#include "parser/statistics/run_selection.h"

#include "parser/catalog/recipe.h"

namespace llmb::parser {

RunSelection by_catalog_names(const Catalog& catalog, RunSelection selection) {
  if (!selection.workload) return selection;
  const Workload* const known = catalog.workload(*selection.workload);
  if (known != nullptr) selection.workload = known->workload;
  return selection;
}

bool is_selected(const RunIdentity& identity, const RunSelection& selection, bool may_be_unsaid) {
  const auto agrees = [&](const std::optional<std::string>& asked, const std::string& value) {
    return !asked || *asked == value || (may_be_unsaid && value.empty());
  };
  return agrees(selection.workload, identity.workload) &&
         agrees(selection.model_size, identity.model_size) &&
         agrees(selection.gpu_type, identity.gpu_type) &&
         (agrees(selection.dtype, identity.dtype) ||
          *selection.dtype == coarse_dtype(identity.dtype)) &&
         (!selection.gpu_count || selection.gpu_count == identity.gpu_count);
}

}  // namespace llmb::parser
