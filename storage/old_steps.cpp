#include "storage/old_steps.h"

#include <optional>

#include "storage/step_rows.h"

namespace llmb::storage {
namespace {

constexpr int kRunsAtOnce = 256;

bool may_grow(Connection& connection, RunId run) {
  Statement& find = connection.kept(
      "SELECT 1 FROM run WHERE id = ? AND status = 'running' AND is_superseded = 0");
  const bool is_found = find.integer(run).step();
  find.reset();
  return is_found;
}

}  // namespace

void pack_old_steps(OpenDatabase& database, const std::function<void(std::int64_t)>& progress) {
  Connection& connection = database.connection();
  std::int64_t packed = 0;
  std::optional<RunId> run = next_unsettled_run(connection, 0);
  while (run) {
    database.check();
    Transaction transaction(connection, Transaction::Kind::write);
    std::int64_t packed_here = 0;
    for (int i = 0; i < kRunsAtOnce && run; ++i) {
      if (!may_grow(connection, *run)) {
        settle_steps(connection, *run);
        ++packed_here;
      }
      run = next_unsettled_run(connection, *run);
    }
    transaction.commit();
    database.bound_log();
    packed += packed_here;
    if (progress && packed_here > 0) progress(packed);
  }
}

}  // namespace llmb::storage
