// The values that the runs of a database have of what lists are filtered by.
#pragma once

#include "storage/connection.h"
#include "storage/run_query.h"

namespace llmb::storage {

// Costs by the rows of run_tally, and not by the runs.
RunChoices read_run_choices(Connection& connection);

}  // namespace llmb::storage
