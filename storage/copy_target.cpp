#include "storage/copy_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/open_database.h"
#include "storage/stored_tables.h"
#include "storage/table_layout.h"

namespace llmb::storage {
namespace {

[[noreturn]] void refuse(const Connection& target, const CopyMark& mark, const std::string& why) {
  throw StorageError(
      StorageError::Kind::constraint,
      fmt::format("refused to copy {} into {}: {}", mark.from_place, target.place(), why));
}

// Rows that a new database has by itself.
bool is_of_every_database(std::string_view table) {
  return table == "store" || table == "data_revision";
}

bool holds_rows(Connection& target, const std::vector<std::string>& tables) {
  return std::any_of(tables.begin(), tables.end(), [&](const std::string& table) {
    const auto is_it = [&](const StoredTable& known) { return known.name == table; };
    const bool is_ours = std::any_of(kStoredTables.begin(), kStoredTables.end(), is_it);
    return is_ours && !is_of_every_database(table) &&
           target.read_one_integer(fmt::format("SELECT EXISTS (SELECT 1 FROM {})", table)) != 0;
  });
}

// A database that was only made has an identity, and nothing else.
void require_new(Connection& target, const CopyMark& mark) {
  const auto tables = table_names(target);
  if (std::find(tables.begin(), tables.end(), "store") != tables.end()) {
    Statement store(target, "SELECT store_id FROM store");
    if (store.step() && store.read_text() == mark.from_store_id) {
      refuse(target, mark,
             "it is the same database, or a whole copy of it. Nothing in it was changed: a copy is "
             "begun anew under a name that is not there yet, and takes the old one's place once it "
             "is whole.");
    }
  }
  if (holds_rows(target, tables)) {
    refuse(target, mark,
           "it is not empty. Nothing in it was changed; name a file that is not there yet, or an "
           "empty PostgreSQL database (createdb).");
  }
}

// True: the copy was begun. False: nothing is there.
bool was_begun(Connection& target, const CopyMark& mark) {
  const auto found = read_copy_mark(target);
  if (!found) {
    require_new(target, mark);
    return false;
  }
  if (found->from_store_id == mark.from_store_id) return true;
  refuse(target, mark,
         fmt::format("another database, {}, is being copied into it. Nothing in it was changed; go "
                     "on with that one, or remove it and call this again.",
                     found->from_place));
}

}  // namespace

CopyTarget open_copy_target(const OpenOptions& options, const CopyMark& mark) {
  CopyTarget target;
  target.database =
      open_writer(options, [&](Connection& found) { target.was_begun = was_begun(found, mark); });
  if (target.was_begun) return target;
  Transaction transaction(target.database->connection(), Transaction::Kind::write);
  write_copy_mark(target.database->connection(), mark);
  transaction.commit();
  return target;
}

}  // namespace llmb::storage
