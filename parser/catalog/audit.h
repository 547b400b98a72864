// The audit: every published figure recomputed from its own row, every worked example from its own
// text, and examples and sample outputs held against the tables of their document. What the printed
// decimals of the inputs and of the result can explain, rounded or cut off, is no finding.
#pragma once

#include <functional>
#include <string>

#include "parser/catalog/audit_ledger.h"
#include "parser/catalog/catalog.h"

namespace llmb::parser {

// Whether the catalog has the document whole, and not only its tables, or results of its release.
bool is_recipe_document(const Catalog& catalog, const std::string& document);

// Of the documents (and sources of other releases) that `is_wanted` says yes to.
Audit audit_catalog(const Catalog& catalog,
                    const std::function<bool(const std::string& document)>& is_wanted);

}  // namespace llmb::parser
