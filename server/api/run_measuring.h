// A stored run as comparisons want it: measured over the window asked for, and over that of its
// recipe's document.
#pragma once

#include <optional>

#include "parser/statistics/run_comparison.h"
#include "storage/database.h"

namespace llmb::api {

// Without `asked`: the run's default window, whose statistics are stored; no step is read, unless
// another catalog than ingest's chooses another window. `run` may be of a list. Throws Refusal
// (400) where the window may hold too many steps. Pointers in the result live as long as the
// catalog.
parser::ComparedRun measure_stored_run(storage::Reader& reader, const storage::RunRecord& run,
                                       const parser::Catalog& catalog,
                                       const std::optional<parser::AskedWindow>& asked);

// Nothing where there is no such run.
std::optional<parser::ComparedRun> measure_stored_run(
    storage::Reader& reader, storage::RunId id, const parser::Catalog& catalog,
    const std::optional<parser::AskedWindow>& asked);

}  // namespace llmb::api
