// The words of SQL as PostgreSQL has them.
#pragma once

#include "storage/sql_dialect.h"

namespace llmb::storage {

const SqlDialect& postgresql_dialect();

}  // namespace llmb::storage
