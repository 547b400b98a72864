// RunSelection: which runs are asked for by what they trained, for scaling and history alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parser/catalog/catalog.h"
#include "parser/statistics/run_identity.h"

namespace llmb::parser {

// Nothing: all. A coarse dtype ("fp8") stands for the fine ones too ("fp8_cs"). Of model size,
// dtype and GPU type case does not count.
struct RunSelection {
  std::optional<std::string> workload = {};  // or an alias of it
  std::optional<std::string> model_size = {};
  std::optional<std::string> dtype = {};
  std::optional<std::string> gpu_type = {};
  std::optional<std::int64_t> gpu_count = {};
};

// The same with the catalog's name of the workload in the place of an alias, and the others in
// lower case, as the catalog has them.
RunSelection by_catalog_names(const Catalog& catalog, RunSelection selection);

// Whether `identity` is what is asked for by catalog names. What it does not say is not what is
// asked for, unless `may_be_unsaid`: such a run may be any.
bool is_selected(const RunIdentity& identity, const RunSelection& selection,
                 bool may_be_unsaid = false);

}  // namespace llmb::parser
