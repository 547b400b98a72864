// The removal of logs by a retention policy.
#pragma once

#include "storage/connection.h"
#include "storage/retention_records.h"

namespace llmb::storage {

// Removes the log whose newest run that is, with all its generations, or their text only, and keeps
// what tells that it was. Does nothing where it does not fit the policy any more. Within a
// transaction of the caller's.
RemovalCount remove_log(Connection& connection, const RetentionPolicy& policy, RunId newest,
                        parser::Instant now);

}  // namespace llmb::storage
