#include "storage/schema.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "migrations/migration_files.h"
#include "storage/beginning_anew.h"
#include "storage/database_header.h"

namespace llmb::storage {
namespace {

// Up to this size the check of the steps takes well under a second.
constexpr std::int64_t kFullCheckBytesMax = 64LL << 20;

void require_our_database(SqliteConnection& connection, std::int64_t version, std::int64_t newest) {
  const std::string& path = connection.path();
  const std::int64_t application = connection.read_one_integer("PRAGMA application_id");
  const bool is_empty = connection.read_one_integer("SELECT count(*) FROM sqlite_schema") == 0;
  if (!is_empty && application != kApplicationId) {
    refuse_other_program(path);
  }
  if (version > newest) {
    throw StorageError(
        StorageError::Kind::newer_schema,
        fmt::format("refused to open {}: its schema is version {}, and this program knows up to "
                    "{}. Use the newer program that wrote it, or another database.",
                    path, version, newest));
  }
}

void copy_before_migration(SqliteConnection& connection, std::int64_t version) {
  const std::string target = fmt::format("{}.before-schema-{}", connection.path(), version + 1);
  const std::string unfinished = target + ".part";
  std::remove(unfinished.c_str());
  Statement copy(connection, "VACUUM INTO ?");
  copy.text(unfinished).run();
  if (std::rename(unfinished.c_str(), target.c_str()) != 0) {
    throw StorageError(StorageError::Kind::io,
                       "cannot keep a copy of " + connection.path() + " as " + target +
                           " before its migration: " + std::strerror(errno) + ".");
  }
}

void require_whole_references(SqliteConnection& connection, const Migration& migration) {
  Statement check(connection, "PRAGMA foreign_key_check");
  if (!check.step()) return;
  throw StorageError(StorageError::Kind::constraint,
                     "cannot migrate " + connection.path() + ": after " +
                         std::string(migration.name) + " a row of " + check.read_text() +
                         " would refer to nothing. Nothing was changed; report this.");
}

}  // namespace

std::span<const Migration> all_migrations() {
  static const std::vector<Migration> migrations = [] {
    std::vector<Migration> all;
    for (const EmbeddedFile& file : migration_files()) all.push_back({file.name, file.bytes});
    return all;
  }();
  return migrations;
}

void migrate(SqliteConnection& connection, std::span<const Migration> migrations) {
  const auto newest = static_cast<std::int64_t>(migrations.size());
  const std::int64_t version = connection.read_one_integer("PRAGMA user_version");
  require_our_database(connection, version, newest);
  if (version == newest) return;
  if (version > 0) copy_before_migration(connection, version);
  // A migration may have to rebuild a table that others refer to; they are checked at its end.
  connection.execute("PRAGMA foreign_keys = OFF");
  for (std::int64_t next = version + 1; next <= newest; ++next) {
    const Migration& migration = migrations[static_cast<std::size_t>(next - 1)];
    Transaction transaction(connection, Transaction::Kind::write);
    connection.execute(std::string(migration.sql));
    require_whole_references(connection, migration);
    connection.execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, next));
    transaction.commit();
  }
  connection.execute("PRAGMA foreign_keys = ON");
}

std::int64_t require_our_schema(SqliteConnection& connection) {
  const auto newest = static_cast<std::int64_t>(all_migrations().size());
  const std::int64_t version = connection.read_one_integer("PRAGMA user_version");
  require_our_database(connection, version, newest);
  return version;
}

void require_current_schema(SqliteConnection& connection) {
  const auto newest = static_cast<std::int64_t>(all_migrations().size());
  const std::int64_t version = require_our_schema(connection);
  if (version < newest) {
    throw StorageError(StorageError::Kind::io,
                       fmt::format("cannot read {}: its schema is version {} of {}. Start "
                                   "`llmb-report ingest` or `serve` on it once; that migrates it.",
                                   connection.path(), version, newest));
  }
}

void require_sound_tables(SqliteConnection& connection) {
  const std::int64_t bytes = connection.read_one_integer("PRAGMA page_count") *
                             connection.read_one_integer("PRAGMA page_size");
  std::vector<std::string> checks;
  if (bytes <= kFullCheckBytesMax) {
    checks.emplace_back("PRAGMA quick_check(1)");
  } else {
    for (const char* table : {"root", "run", "run_segment", "log_cursor", "data_revision"}) {
      checks.push_back("PRAGMA quick_check('" + std::string(table) + "')");
    }
  }
  for (const std::string& sql : checks) {
    Statement check(connection, sql);
    const std::string found = check.step() ? check.read_text() : "nothing to check";
    if (found == "ok") continue;
    throw StorageError(StorageError::Kind::corrupt,
                       "refused to open " + connection.path() + ": it is damaged (" + found +
                           "). Move it away together with its -wal and -shm files and start "
                           "again: " +
                           kBeginningAnew + ". Or put back a backup.");
  }
}

}  // namespace llmb::storage
