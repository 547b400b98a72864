// The schema's version of a PostgreSQL database, as schema.h has a file's: migration N leaves it at
// version N.
#pragma once

#include <cstdint>

#include "storage/connection.h"

namespace llmb::storage {

// 0: no table of llmb-report is there.
std::int64_t postgresql_version(Connection& connection);
std::int64_t newest_postgresql_version();

// Throws StorageError for a newer version, another program's tables, and an encoding that is not
// UTF-8.
void require_our_postgresql(Connection& connection);
// The same, and for an older version.
void require_current_postgresql(Connection& connection);

// Applies what is missing, in one transaction. Nobody who knows an older version may be at work.
void migrate_postgresql(Connection& connection);

}  // namespace llmb::storage
