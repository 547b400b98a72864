#include "storage/postgresql_result.h"

#include <libpq-fe.h>

#include <string_view>

#include "parser/foundation/parse_number.h"

namespace llmb::storage {

void PostgresqlResult::clear(pg_result* handle) {
  PQclear(handle);
}

bool PostgresqlResult::has_failed() const {
  const ExecStatusType status = PQresultStatus(get());
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK;
}

std::optional<std::int64_t> changed_rows(pg_result* result) {
  if (std::string_view(PQcmdStatus(result)).starts_with("SELECT")) return std::nullopt;
  return parser::parse_digits(PQcmdTuples(result));
}

}  // namespace llmb::storage
