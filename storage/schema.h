// The schema's version: brings a database up to it, and tells whether this program may read one.
// Migrations only go forward; migration N leaves the database at user_version N.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "storage/sqlite_connection.h"

namespace llmb::storage {

struct Migration {
  std::string_view name;  // "0001_initial.sql"
  std::string_view sql;
};

// Those of the migrations folder, embedded; the first is version 1.
std::span<const Migration> all_migrations();

// Applies what is missing, each migration in one transaction. Existing data is copied first, to
// `<database>.before-schema-N`. Throws StorageError: newer_schema, corrupt (also for a database of
// another program), disk_full, io, constraint (a migration would leave a dangling reference); then
// the database is at the last version that was completed, and the connection is not to be used.
void migrate(SqliteConnection& connection, std::span<const Migration> migrations);

// Its version, this program's or an older one. Throws for a newer one and for a database of another
// program.
std::int64_t require_our_schema(SqliteConnection& connection);

// Throws unless the database has exactly this program's schema.
void require_current_schema(SqliteConnection& connection);

// Reads enough of the file to refuse a damaged one: the small tables always, and the steps where
// the whole file is small. Throws StorageError corrupt.
void require_sound_tables(SqliteConnection& connection);

}  // namespace llmb::storage
