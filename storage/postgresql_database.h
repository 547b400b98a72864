// A database of a PostgreSQL server: its schema brought up to date, and one writer of all of it, or
// several, one of each tree (postgresql_writer.h). In a build without libpq each throws a
// StorageError that says so.
#pragma once

#include <memory>
#include <string>

#include "storage/change_listener.h"
#include "storage/database_engine.h"

namespace llmb::storage {

std::unique_ptr<OpenDatabase> open_postgresql_writer(const std::string& url,
                                                     const AdmitDatabase& admit);
std::unique_ptr<OpenDatabase> open_postgresql_writer_of(const std::string& url,
                                                        const RootClaim& claim,
                                                        const AdmitDatabase& admit);
// A database that is up to date.
std::unique_ptr<OpenDatabase> open_postgresql_beside_writer(const std::string& url);
std::unique_ptr<OpenDatabase> open_postgresql_reader(const std::string& url);
std::unique_ptr<ChangeListener> listen_to_postgresql(const std::string& url);

}  // namespace llmb::storage
