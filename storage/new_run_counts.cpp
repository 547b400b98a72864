#include "storage/new_run_counts.h"

namespace llmb::storage {

void count_new_runs(Connection& connection, RunId first, RunId last) {
  for (const std::string_view sql : connection.dialect().beside_new_runs) {
    connection.kept(sql).integer(first).integer(last).run();
  }
}

}  // namespace llmb::storage
