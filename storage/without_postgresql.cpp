// In the place of postgresql_database.cpp where libpq is not there to build with.
#include <fmt/format.h>

#include "storage/database_place.h"
#include "storage/postgresql_database.h"

namespace llmb::storage {
namespace {

[[noreturn]] void refuse(const std::string& url) {
  throw StorageError(StorageError::Kind::io,
                     fmt::format("cannot open {}: this build of llmb-report has no PostgreSQL. "
                                 "Build it where libpq-dev is installed, or name a file.",
                                 shown_place(url)));
}

}  // namespace

std::unique_ptr<OpenDatabase> open_postgresql_writer(const std::string& url,
                                                     const AdmitDatabase& /*admit*/) {
  refuse(url);
}
std::unique_ptr<OpenDatabase> open_postgresql_writer_of(const std::string& url,
                                                        const RootClaim& /*claim*/,
                                                        const AdmitDatabase& /*admit*/) {
  refuse(url);
}
std::unique_ptr<OpenDatabase> open_postgresql_beside_writer(const std::string& url) {
  refuse(url);
}
std::unique_ptr<OpenDatabase> open_postgresql_reader(const std::string& url) {
  refuse(url);
}

std::unique_ptr<ChangeListener> listen_to_postgresql(const std::string& url) {
  refuse(url);
}

}  // namespace llmb::storage
