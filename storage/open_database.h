// Opens the database of a place, whichever its engine is: the path of an SQLite file, or the URL of
// a PostgreSQL database.
#pragma once

#include <memory>
#include <string>

#include "storage/copy_mark.h"
#include "storage/database.h"
#include "storage/database_engine.h"

namespace llmb::storage {

// All throw StorageError, also for a database that another one is being copied into (copy_mark.h),
// unless `admit` takes that. A writer is the only one, and brings the schema up to date; beside it,
// for short transactions of their own, may be any number of others.
std::unique_ptr<OpenDatabase> open_writer(const OpenOptions& options,
                                          const AdmitDatabase& admit = refuse_half_copied);
// The same, but one of several where the engine admits that (admits_several_writers): of the runs
// of a watched tree, once it has claimed them; of an empty one, of what belongs to none.
std::unique_ptr<OpenDatabase> open_writer_of(const OpenOptions& options, const RootClaim& claim);
std::unique_ptr<OpenDatabase> open_beside_writer(const OpenOptions& options);
std::unique_ptr<OpenDatabase> open_reader(const std::string& place);

}  // namespace llmb::storage
