#include "storage/postgresql_pipeline.h"

#include <libpq-fe.h>

#include <utility>

namespace llmb::storage {
namespace {

// A server whose answers nobody takes stands still when the socket is full of them.
constexpr std::size_t kSentBetweenLooks = 64;

// Of one statement, with the end of its results and that of the sync behind it read, too.
PostgresqlResult next_result(pg_conn* server) {
  PostgresqlResult result(PQgetResult(server));
  if (PQstatus(server) != CONNECTION_OK) return result;
  while (pg_result* const rest = PQgetResult(server)) PQclear(rest);
  PQclear(PQgetResult(server));
  return result;
}

}  // namespace

bool PostgresqlPipeline::send(pg_conn* server, const Send& send, const std::string& sql,
                              std::uint64_t* prepared_in_session) {
  sent_.push_back({&sql, prepared_in_session});
  if (sent_.size() == 1 && PQenterPipelineMode(server) == 0) return false;
  if (send(server) == 0 || PQpipelineSync(server) == 0) return false;
  if (sent_.size() % kSentBetweenLooks == 0) PQconsumeInput(server);  // a failure stays
  return true;
}

PostgresqlPipeline::Outcome PostgresqlPipeline::end(pg_conn* server) noexcept {
  Outcome outcome{PostgresqlResult(), nullptr, std::nullopt};
  bool has_failed = false;
  for (const Sent& sent : sent_) {
    PostgresqlResult result = next_result(server);
    if (result.has_failed()) {
      if (sent.prepared_in_session != nullptr) *sent.prepared_in_session = 0;
    } else if (const auto changes = changed_rows(result.get())) {
      outcome.changes = changes;
    }
    if (has_failed) continue;
    has_failed = result.has_failed();
    outcome.last = std::move(result);
    outcome.sql = sent.sql;
  }
  sent_.clear();
  PQexitPipelineMode(server);
  return outcome;
}

}  // namespace llmb::storage
