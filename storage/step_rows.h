// StepSample <-> rows of step_sample and step_field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "parser/statistics/window.h"
#include "parser/step_sample.h"
#include "storage/records.h"
#include "storage/sqlite_connection.h"

namespace llmb::storage {

// Inserts, or replaces what has the same (segment, iteration). Returns how many rows are new.
// Within a transaction of the caller's.
std::int64_t upsert_steps(Connection& connection, RunId run,
                          std::span<const parser::StepSample> samples);

void delete_steps(Connection& connection, RunId run);

// Ordered by (segment, iteration); one range scan of the key for each segment in a window.
std::vector<parser::StepSample> read_steps(Connection& connection, RunId run,
                                           const std::optional<parser::Window>& window);

}  // namespace llmb::storage
