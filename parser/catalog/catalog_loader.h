// Reads catalogs from JSON text (recipes.json, references.json, and files of the same form that
// users give). Their form: recipes.schema.json, references.schema.json.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "parser/catalog/catalog.h"
#include "parser/result.h"

namespace llmb::parser {

struct CatalogFile {
  std::string_view name;  // for messages
  std::string_view text;
};

// In order: an entry of a later file replaces the one of the same identity of an earlier file
// (id, gpu_type, family and size, workload, or the key figures of a row), and adds to it
// otherwise. Refused with file, line and what is allowed: what is no JSON, unknown and repeated
// keys, entries that repeat within a file, wrong types, values outside the range of their unit,
// and references to what no file has.
Result<Catalog> load_catalog(std::span<const CatalogFile> files);

// The embedded catalog with a user's file on it.
Result<Catalog> load_catalog_over_embedded(const CatalogFile& file);

}  // namespace llmb::parser
