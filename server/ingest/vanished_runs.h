// Verdicts of runs whose logs went away, or were written anew, while they were running. Nothing
// more of such a log will be read, so what there is is the end; one that is there again is judged
// anew when it is looked at.
#pragma once

#include <span>
#include <string>

#include "parser/catalog/catalog.h"
#include "storage/database.h"

namespace llmb::ingest {

// Of all that these roots have, whose runs `writer` writes, over their stored windows. Costs one
// query a root where there is none. Throws StorageError.
void judge_vanished_runs(storage::Writer& writer, const std::string& database_path,
                         const parser::Catalog& catalog, std::span<const storage::RootId> roots);

}  // namespace llmb::ingest
