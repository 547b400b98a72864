#include "storage/open_database.h"

#include "storage/database_place.h"
#include "storage/postgresql_database.h"
#include "storage/sqlite_database.h"

namespace llmb::storage {

std::unique_ptr<OpenDatabase> open_writer(const OpenOptions& options) {
  if (is_postgresql(options.path)) return open_postgresql_writer(options.path);
  return open_sqlite_writer(options);
}

std::unique_ptr<OpenDatabase> open_beside_writer(const OpenOptions& options) {
  if (is_postgresql(options.path)) return open_postgresql_beside_writer(options.path);
  return open_sqlite_beside_writer(options);
}

std::unique_ptr<OpenDatabase> open_reader(const std::string& place) {
  if (is_postgresql(place)) return open_postgresql_reader(place);
  return open_sqlite_reader(place);
}

}  // namespace llmb::storage
