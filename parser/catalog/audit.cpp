#include "parser/catalog/audit.h"

#include <iterator>

#include "parser/catalog/audit_checks.h"

namespace llmb::parser {
namespace {

using Wanted = std::function<bool(const std::string& document)>;

Audit audit_part(const Catalog& catalog, const Wanted& is_wanted) {
  AuditLedger ledger;
  for (const Document& document : catalog.documents) {
    if (is_wanted(document.id)) audit_document(catalog, document, ledger);
  }
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
    for (const RestatedMfu& restated : reference.restated_mfu) {
      if (is_wanted(restated.source)) audit_restated_mfu(catalog, reference, restated, ledger);
    }
  }
  for (const WorkedExample& example : catalog.worked_examples) {
    if (is_wanted(example.document)) audit_worked_example(catalog, example, ledger);
  }
  for (const SampleOutput& sample : catalog.sample_outputs) {
    if (is_wanted(sample.document)) audit_sample_output(catalog, sample, ledger);
  }
  for (const PublishedCommand& command : catalog.commands) {
    if (is_wanted(command.document)) audit_command(catalog, command, ledger);
  }
  return ledger.take();
}

AuditCounts counts_of(const Audit& audit) {
  return {audit.figures_checked, std::ssize(audit.findings), std::ssize(audit.unchecked)};
}

}  // namespace

bool is_recipe_document(const Catalog& catalog, const std::string& document) {
  const Document* const found = catalog.document(document);
  return found != nullptr && found->source.empty();
}

Audit audit_catalog(const Catalog& catalog, const Wanted& is_wanted) {
  Audit of_documents = audit_part(catalog, [&](const std::string& document) {
    return is_recipe_document(catalog, document) && is_wanted(document);
  });
  Audit of_others = audit_part(catalog, [&](const std::string& document) {
    return !is_recipe_document(catalog, document) && is_wanted(document);
  });
  for (AuditFinding& finding : of_others.findings) finding.is_of_other_release = true;
  Audit audit = std::move(of_documents);
  audit.documents = counts_of(audit);
  audit.other_releases = counts_of(of_others);
  audit.figures_checked += of_others.figures_checked;
  const auto append = [](auto& list, auto& others) {
    list.insert(list.end(), std::make_move_iterator(others.begin()),
                std::make_move_iterator(others.end()));
  };
  append(audit.findings, of_others.findings);
  append(audit.unchecked, of_others.unchecked);
  return audit;
}

}  // namespace llmb::parser
