// The removal of a run with all its rows.
#pragma once

#include "storage/connection.h"
#include "storage/records.h"

namespace llmb::storage {

// Within a transaction of the caller's.
void remove_run(Connection& connection, RunId run);

}  // namespace llmb::storage
