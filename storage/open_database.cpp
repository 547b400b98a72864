#include "storage/open_database.h"

#include "storage/change_listener.h"
#include "storage/database_place.h"
#include "storage/postgresql_database.h"
#include "storage/sqlite_database.h"

namespace llmb::storage {
namespace {

std::unique_ptr<OpenDatabase> whole(std::unique_ptr<OpenDatabase> database) {
  refuse_half_copied(database->connection());
  return database;
}

}  // namespace

std::unique_ptr<OpenDatabase> open_writer(const OpenOptions& options, const AdmitDatabase& admit) {
  if (is_postgresql(options.path)) return open_postgresql_writer(options.path, admit);
  return open_sqlite_writer(options, admit);
}

std::unique_ptr<OpenDatabase> open_writer_of(const OpenOptions& options, const RootClaim& claim) {
  if (!admits_several_writers(options.path)) return open_writer(options);
  return open_postgresql_writer_of(options.path, claim, refuse_half_copied);
}

// A writer that lives elsewhere has brought the schema up to date itself.
std::unique_ptr<OpenDatabase> open_beside_writer(const OpenOptions& options) {
  try {
    open_writer_of(options, {});
  } catch (const StorageError& error) {
    if (error.kind != StorageError::Kind::busy_elsewhere) throw;
  }
  return whole(is_postgresql(options.path) ? open_postgresql_beside_writer(options.path)
                                           : open_sqlite_beside_writer(options));
}

std::unique_ptr<OpenDatabase> open_reader(const std::string& place) {
  return whole(is_postgresql(place) ? open_postgresql_reader(place) : open_sqlite_reader(place));
}

std::unique_ptr<ChangeListener> listen_for_changes(const std::string& place) {
  return is_postgresql(place) ? listen_to_postgresql(place) : nullptr;
}

}  // namespace llmb::storage
