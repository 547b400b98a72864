#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "parser/catalog/audit_checks.h"

namespace llmb::parser {

void audit_document(const Catalog& catalog, const Document& document, AuditLedger& ledger) {
  if (!document.launch || !document.launch->only_gpu_type_line) return;
  const LaunchDefaults& launch = *document.launch;
  ledger.count();
  std::set<std::string> others;
  for (const Recipe& recipe : catalog.recipes) {
    if (recipe.document == document.id && recipe.gpu_type != launch.gpu_type) {
      others.insert(recipe.gpu_type);
    }
  }
  if (others.empty()) return;
  const FigurePlace place = {document.id, document.release, *launch.only_gpu_type_line, 0,
                             fmt::format("GPU_TYPE of {}", document.workload)};
  ledger.add(place, "gpu_type", launch.gpu_type, {}, {},
             {"text_against_table",
              fmt::format("The text says that {} is the only GPU type supported; the document's "
                          "own tables have rows for {} too.",
                          launch.gpu_type, fmt::join(others, ", "))});
}

}  // namespace llmb::parser
