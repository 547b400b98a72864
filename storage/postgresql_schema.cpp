#include "storage/postgresql_schema.h"

#include <fmt/format.h>

#include <string>

#include "migrations/postgresql_migration_files.h"
#include "storage/storage_error.h"

namespace llmb::storage {

std::int64_t newest_postgresql_version() {
  return static_cast<std::int64_t>(postgresql_migration_files().size());
}

std::int64_t postgresql_version(Connection& connection) {
  const bool is_ours =
      connection.read_one_integer("SELECT to_regclass('llmb_report_schema') IS NOT NULL") != 0;
  return is_ours ? connection.read_one_integer("SELECT version FROM llmb_report_schema") : 0;
}

void require_our_postgresql(Connection& connection) {
  const std::int64_t version = postgresql_version(connection);
  if (version > newest_postgresql_version()) {
    throw StorageError(
        StorageError::Kind::newer_schema,
        fmt::format("refused to open {}: its schema is version {}, and this program knows up to "
                    "{}. Use the newer program that wrote it, or another database.",
                    connection.place(), version, newest_postgresql_version()));
  }
  // In one statement: another process may be making ours just now.
  const bool has_others =
      connection.read_one_integer(
          "SELECT to_regclass('llmb_report_schema') IS NULL AND EXISTS"
          " (SELECT 1 FROM pg_tables WHERE schemaname = current_schema())") != 0;
  if (has_others) {
    throw StorageError(
        StorageError::Kind::corrupt,
        fmt::format("refused to open {}: it has tables of another program. Nothing in it was "
                    "changed; give llmb-report an empty database (createdb) or schema.",
                    connection.place()));
  }
  const bool is_utf8 = connection.read_one_integer(
                           "SELECT pg_encoding_to_char(encoding) = 'UTF8' FROM pg_database"
                           " WHERE datname = current_database()") != 0;
  if (is_utf8) return;
  throw StorageError(StorageError::Kind::io,
                     fmt::format("cannot use {}: its encoding is not UTF-8. Make one that is: "
                                 "createdb --encoding=UTF8 --template=template0 NAME.",
                                 connection.place()));
}

void require_current_postgresql(Connection& connection) {
  require_our_postgresql(connection);
  const std::int64_t version = postgresql_version(connection);
  if (version == newest_postgresql_version()) return;
  throw StorageError(StorageError::Kind::io,
                     fmt::format("cannot read {}: its schema is version {} of {}. Start "
                                 "`llmb-report ingest` or `serve` on it once; that migrates it.",
                                 connection.place(), version, newest_postgresql_version()));
}

void migrate_postgresql(Connection& connection) {
  Transaction transaction(connection, Transaction::Kind::write);
  require_our_postgresql(connection);
  const std::int64_t version = postgresql_version(connection);
  const auto files = postgresql_migration_files();
  for (std::int64_t next = version + 1; next <= newest_postgresql_version(); ++next) {
    connection.execute(std::string(files[static_cast<std::size_t>(next - 1)].bytes));
    connection.execute(fmt::format("UPDATE llmb_report_schema SET version = {}", next));
  }
  transaction.commit();
}

}  // namespace llmb::storage
