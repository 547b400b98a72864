#include "storage/empty_root.h"

#include "storage/records.h"

namespace llmb::storage {

bool erase_empty_root(Connection& connection, const std::string& path) {
  Statement& find = connection.kept(
      "SELECT id FROM root WHERE path = ? AND pushed_from = ''"
      " AND NOT EXISTS (SELECT 1 FROM run WHERE run.root_id = root.id)");
  find.text(path);
  const bool is_found = find.step();
  const RootId id = is_found ? find.read_integer() : 0;
  find.reset();
  if (!is_found) return false;
  connection.kept("DELETE FROM parked_file WHERE root_id = ?").integer(id).run();
  connection.kept("DELETE FROM removed_log WHERE root_id = ?").integer(id).run();
  connection.kept("DELETE FROM root WHERE id = ?").integer(id).run();
  return true;
}

}  // namespace llmb::storage
