// The words of SQL as SQLite has them.
#pragma once

#include "storage/sql_dialect.h"

namespace llmb::storage {

const SqlDialect& sqlite_dialect();

}  // namespace llmb::storage
