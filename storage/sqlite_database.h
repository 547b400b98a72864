// A database in an SQLite file: locked against a second writer, migrated, and watched for being
// replaced.
#pragma once

#include <memory>
#include <string>

#include "storage/database.h"
#include "storage/database_engine.h"

namespace llmb::storage {

std::unique_ptr<OpenDatabase> open_sqlite_writer(const OpenOptions& options,
                                                 const AdmitDatabase& admit);
// A database that is up to date.
std::unique_ptr<OpenDatabase> open_sqlite_beside_writer(const OpenOptions& options);
std::unique_ptr<OpenDatabase> open_sqlite_reader(const std::string& path);

}  // namespace llmb::storage
