#include "parser/catalog/audit.h"

#include "parser/catalog/audit_checks.h"

namespace llmb::parser {

Audit audit_catalog(const Catalog& catalog,
                    const std::function<bool(const std::string& document)>& is_wanted) {
  AuditLedger ledger;
  for (const auto* const list : {&catalog.recipes, &catalog.later_recipes}) {
    for (const Recipe& recipe : *list) {
      if (is_wanted(recipe.document)) audit_recipe(catalog, recipe, ledger);
    }
  }
  for (const Reference& reference : catalog.references) {
    const bool is_documented = !reference.document.empty();
    if (is_wanted(is_documented ? reference.document : reference.source)) {
      audit_reference(catalog, reference, ledger);
    }
  }
  for (const WorkedExample& example : catalog.worked_examples) {
    if (is_wanted(example.document)) audit_worked_example(catalog, example, ledger);
  }
  return ledger.take();
}

}  // namespace llmb::parser
